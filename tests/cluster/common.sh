# What the scripts here have in common: the kit of namespaces, jobs on it, and what is checked of their ends. Sourced; needs $here.
kit=${OXMPI_CLUSTER_KIT:-/work/shared/cluster}
root=$(cd "$here/../.." && pwd)
prefix=${OXMPI_STAGE:-$root/target/stage}
skip() { echo "skipped: $1"; exit 0; }
[ "$(id -u)" = 0 ] || skip "namespaces need root"
[ -x "$kit/cluster" ] || skip "there is no cluster kit at $kit"
[ -x "$prefix/bin/mpiexec" ] || { echo "no mpiexec in $prefix: make stage first"; exit 1; }
for tool in ip nsenter cc timeout; do command -v $tool >/dev/null || skip "no '$tool' here"; done

work=$(mktemp -d)
export OXMPI_CLUSTER_DIR=$work/state OXMPI_CLUSTER_SHARE=$root:$prefix:$work/share
mkdir -p "$work/share"
cluster() { "$kit/cluster" "$@"; }
failed=0 checked=0
finish() { cluster down >/dev/null 2>&1; rm -rf "$work"; }
trap finish EXIT
trap 'exit 130' INT TERM

mpiexec() { cluster on host1 env -u OXMPI_CLUSTER_DIR -u OXMPI_CLUSTER_SHARE -u OXMPI_CLUSTER_KIT -u OXMPI_PEERS -u OXMPI_STAGE timeout -k 1 60 "$prefix/bin/mpiexec" "$@"; }
out=$work/out err=$work/err
says() { tr '\n' ' ' <"$1"; echo; } # in one line, which is there even if nothing was said
now() { date +%s%3N; }

# verdict NAME GOOD
verdict() {
  checked=$((checked + 1))
  if [ "$2" = 0 ]; then echo "ok      $1"; return; fi
  failed=$((failed + 1))
  echo "FAILED  $1"
  head -c 1000 "$out" | sed 's/^/        out: /' | head -5
  head -c 2000 "$err" | sed 's/^/        err: /' | head -8
}

# nothing_left HOST...: no process of a job, no segment, no file, after a moment for the last ones to go
nothing_left() {
  local host try
  for host in "$@"; do
    for try in {1..100}; do
      cluster on "$host" sh -c '! ps -eo args | grep -vE "^(/bin/)?sh -c .! ps|grep" | grep -E "[o]xmpi-supervise|[o]xmpi-guard|[n]ode-keeper|[s]leep 98765" && ! ls /dev/shm /tmp | grep oxmpi' >"$work/left" 2>&1 && continue 2
      sleep 0.02
    done
    echo "left on $host:" >>"$err"; cat "$work/left" >>"$err"
    return 1
  done
}

# run NAME CODE OUTPUT_PATTERN ERROR_PATTERN WORDS...: the job by itself
run() {
  local name=$1 code=$2 want=$3 wanted_error=$4 got
  shift 4
  mpiexec "$@" >"$out" 2>"$err" </dev/null
  got=$?
  [ "$got" = "$code" ] && says "$out" | grep -qE -- "$want" && says "$err" | grep -qE -- "$wanted_error" && nothing_left host1 host2 host3
  verdict "$name (exit code $got)" $?
}

# fault NAME CODE MILLISECONDS ERROR_PATTERN DEED WORDS...: a job that runs for ever, a deed, and how it ends; $took: after how many milliseconds
fault() {
  local name=$1 code=$2 limit=$3 wanted_error=$4 deed=$5 job begin got
  shift 5
  mpiexec "$@" >"$out" 2>"$err" </dev/null &
  job=$!
  for _ in {1..3000}; do grep -q ready "$out" && break; sleep 0.01; done
  begin=$(now)
  eval "$deed"
  wait $job
  got=$?
  took=$(($(now) - begin))
  [ "$got" = "$code" ] && [ $took -le "$limit" ] && says "$err" | grep -qE -- "$wanted_error"
  verdict "$name (exit code $got, $took ms)" $?
}
# kill_on HOST COMMAND SIGNAL: the processes whose command line begins so, of which there is one
kill_on() {
  local try
  for try in {1..100}; do
    cluster on "$1" sh -c "pids=\$(ps -eo pid=,args= | grep -E '^ *[0-9]+ +$2' | grep -v grep | awk '{print \$1}'); [ -n \"\$pids\" ] && kill -$3 \$pids" && return
    sleep 0.05
  done
  echo "nothing to kill on $1: $2" >>"$err"
}

