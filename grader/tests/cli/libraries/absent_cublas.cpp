// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
// Stands for cuBLAS where a program is linked; where it runs no such library is found.
extern "C" int cublasCreate_v2(void** handle) { return handle == nullptr ? 1 : 0; }
extern "C" int cublasSscal_v2(void* handle) { return handle == nullptr ? 1 : 0; }
extern "C" int cublasDestroy_v2(void* handle) { return handle == nullptr ? 1 : 0; }
