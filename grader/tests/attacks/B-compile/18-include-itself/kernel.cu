// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
//
// a file that includes itself twice: diagnostics without end
#warning again
#include __FILE__
#include __FILE__
