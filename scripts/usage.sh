# usage.sh: for scripts to source before they do anything. --help prints the comment a script begins with; `refuse ARGUMENT` ends
# it for an argument that it does not know, `need PROGRAM...` with 77, which stands for skipped, for the first that is not there.

explain() { sed -n '2,/^[^#]/{/^#/!q;s/^# \{0,1\}//;p}' "$0"; }

refuse() {
  echo "${0##*/}: $1 is no argument of scripts/${0##*/}; scripts/${0##*/} --help tells them" >&2
  exit 2
}

need() {
  local program
  for program in "$@"; do
    command -v "$program" >/dev/null || { echo "${0##*/}: $program is not installed" >&2 && exit 77; }
  done
}

for argument in "$@"; do
  case $argument in
  -h | --help)
    explain
    exit 0
    ;;
  esac
done
