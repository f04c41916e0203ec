# SPDX-FileCopyrightText: The Membound authors
# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash disable=SC2034,SC2154  # a part of ./membound: it shares the variables of all parts
#
# What can be answered before anything is installed or built: help, and a wrong word.

readonly help_pages=$root/grader/cli/help

# Prints the id of the lab that WORD means as the program would take it, or fails.
lab_of() {
  local word=${1%%/*} lab id fits=() trees=() tree all=()
  IFS=: read -ra trees <<<"${MEMBOUND_LABS:-}"
  for tree in "$root" "${trees[@]}"; do all+=("$tree"/labs/*/lab.json); done
  for lab in "${all[@]}"; do
    [ -e "$lab" ] || continue
    id=$(basename "$(dirname "$lab")")
    if [ "$id" = "$word" ] || [ "${id#*-}" = "$word" ]; then echo "$id"; return; fi
    if [[ $word =~ ^[0-9]+$ ]]; then
      if ((10#${id%%-*} == 10#$word)); then echo "$id"; return; fi
    elif [[ $word && ($id == "$word"* || ${id#*-} == "$word"*) ]]; then
      fits+=("$id")
    fi
  done
  [ ${#fits[@]} -eq 1 ] && echo "${fits[0]}"
}

# What this is and how it begins, for a call without a word.
first_screen() {
  local first built='Nothing is built yet. The first command below installs what is missing, says what
and why, and builds; that takes minutes, once.'
  if has_binaries && [ -z "$(binaries_problem)" ]; then
    built='Its programs came with it, so nothing is built. The first command below installs
what else is missing, and says what and why.'
  fi
  first=$(cd "$root/labs" && echo [0-9]*)
  first=${first%% *}
  cat <<SCREEN
Membound: a CUDA lab course that grades itself.
$built

  ./membound start          your first kernel, step by step
  ./membound check ${first%%-*}       checks the first lab
  ./membound list           the labs and their stages
  ./membound --no-install   before a command: only tells what is missing
  ./membound --help         every command

Next: ./membound start
SCREEN
}

# Whether the call asks for a text. What stands after -- is a student's own program's.
asks_for_help() { # the call's words
  local word
  for word; do
    case $word in
      --) return 1 ;;
      --help | -h) return ;;
    esac
  done
  return 1
}

# The help page that the call's first words name.
help_page_of() { # the call's words
  if [ -e "$help_pages/${1:-}-${2:-}.md" ]; then echo "$1-$2"; elif [ -e "$help_pages/${1:-}.md" ]; then echo "$1"; fi
}

# Prints the help that the call asks for, or the list of commands, and ends the call.
answer_help() { # the call's words
  local page others='' next='^## Labs and stages$'
  page=$(help_page_of "$@")
  # A course that was handed out is a student's, who is told of students' commands alone.
  if [ -e "$root/released" ]; then others="/^## For instructors\$/,/$next/{/$next/!d}"; fi
  sed -e '/^<!--.*-->$/d' -e "$others" "$help_pages/${page:-membound}.md"
  exit
}

# Ends the call if it is for authors of labs, in a course that was handed out: after minutes of building it would find
# no sources of answers. What authors do with labs of their own (--labs) goes on.
refuse_authors_command() { # the call's words
  [ "${1:-}" = dev ] && [ -e "$root/released" ] && [ -z "${MEMBOUND_LABS:-}" ] || return 0
  case "${2:-}" in
    '' | check | figure | figures | ladder | verdicts | wrong) ;;
    *) return 0 ;;
  esac
  if asks_for_help "$@"; then return 0; fi
  fail 2 "\"dev${2:+ $2}\" is for authors of labs: students have no need of it" \
    "./membound check LAB, which measures your own answer" \
    "the same call in Membound's repository, which has the answers it reads"
}

# Ends the call if it can be answered as it is.
answer_unbuilt() { # the call's words
  if [ $# -eq 0 ]; then
    first_screen
    exit
  fi
  local page
  page=$(help_page_of "$@")
  if [[ $1 != -* && -z $page ]]; then
    fail 2 "there is no command \"$1\"" "./membound --help, which lists them"
  fi
  case "$1" in
    next | predict | check | watch | profile | ptx | compare | hint | handout | solution | reset | hand-in)
      if [[ ${2:--} != -* ]] && ! lab_of "$2" >/dev/null; then
        local labs
        labs=$(cd "$root/labs" && echo [0-9]*)
        fail 2 "\"$2\" means none, or more than one, of $labs" \
          "the number of a lab, its name, or the beginning of its name: ./membound $1 ${labs%% *}"
      fi
      ;;
  esac
}
