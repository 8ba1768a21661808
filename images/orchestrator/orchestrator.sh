#!/bin/sh
# framework-bench: the orchestrator in its own image, on the engine, with the user and the folders of this host.
# Folders are at the same paths on both sides, because containers that it starts are started by the host's engine.
# It sees the folder it is started in, every folder that an argument names, the bundles beside a delta, and the folders in
# ORCHESTRATOR_FOLDERS (with colons between them).
set -euf
image='@IMAGE@'
# Of the image that install.sh has checked: what gets its name later does not get the engine's socket.
image_id=''
line_break='
'
folders=

fail() {
    printf 'orchestrator: %s\n' "$2" >&2
    exit "$1"
}

# Whether a folder would hide a part of the image or of the host's kernel.
is_of_a_system() {
    case $1 in
    / | /bin | /boot | /dev | /etc | /lib | /lib64 | /opt | /proc | /root | /run | /sbin | /sys | /usr | /var) ;;
    /usr/bin | /usr/lib | /usr/local | /usr/sbin | /usr/share | /var/lib | /var/run | /opt/environment) ;;
    *) return 1 ;;
    esac
    # A home is a home, even that of root.
    [ "$1" != "${HOME:-/}" ] || [ "$1" = / ]
}

# Remember a folder (or file) to be seen inside, unless it is in one that is.
share() {
    case $1 in *'"'* | *"$line_break"*) fail 2 "$1: a name with a quotation mark or a line break cannot be shared" ;; esac
    IFS=$line_break
    for known in $folders; do
        case $1/ in "$known"/*) unset IFS; return 0 ;; esac
    done
    unset IFS
    folders=$folders$1$line_break
}

# Share the bundles beside a delta: it may build on any of them.
share_bundles_beside() {
    grep -qs '^ "base": {$' "$1/manifest.json" || return 0
    set +f
    for beside in "${1%/*}"/*/manifest.json "${1%/*}"/*.tar; do
        case $beside in *'"'* | *"$line_break"*) continue ;; esac
        [ ! -f "$beside" ] || is_of_a_system "${beside%/manifest.json}" || share "${beside%/manifest.json}"
    done
    set -f
}

# Share what an argument names, where it names something: a folder, or the folder of a file.
share_named() {
    case $1 in '' | -*) return 0 ;; */* | . | ..) ;; *) return 0 ;; esac
    case $1 in /*) how=-L ;; *) how=-P ;; esac
    if [ -d "$1" ]; then
        place=$(cd "$how" -- "$1" && pwd "$how") || return 0
    else
        place=$(cd "$how" -- "$(dirname -- "$1")" 2>/dev/null && pwd "$how") || return 0
    fi
    if ! is_of_a_system "$place"; then
        share "$place"
        [ ! -d "$1" ] || share_bundles_beside "$place"
    elif [ -f "$1" ]; then
        share "${place%/}/$(basename -- "$1")"
    elif [ -d "$1" ]; then
        fail 2 "$1: a folder of the system cannot be shared with the orchestrator; choose one of your own"
    fi
}

command -v docker >/dev/null 2>&1 || fail 3 'there is no command docker here; install Docker'
engine=${DOCKER_HOST:-unix:///var/run/docker.sock}
case $engine in
unix://*) socket=${engine#unix://} ;;
*) fail 3 "DOCKER_HOST=$engine: from its image, the orchestrator can only use the engine of this host, by its socket" ;;
esac
[ -S "$socket" ] || fail 3 "no container engine at $socket; start Docker"
export DOCKER_HOST="unix://$socket" ORCHESTRATOR_OWN_IMAGE="$image_id"
if ! docker image inspect "$image_id" >/dev/null 2>&1; then
    docker version >/dev/null 2>&1 || fail 3 "the container engine at $socket does not answer this user; start it, or join the group docker"
    fail 3 "$image is not on this engine any more; run install.sh of the bundle again"
fi
here=$(pwd -P)
is_of_a_system "$here" && fail 2 "$here: a folder of the system; change to a folder of your own"
: "${HOME:?}"
cache=${XDG_CACHE_HOME:-$HOME/.cache}/framework-bench
data=${XDG_DATA_HOME:-$HOME/.local/share}/framework-bench
mkdir -p -- "$cache" "$data" || fail 3 "$HOME: cannot be written; set HOME, or XDG_CACHE_HOME and XDG_DATA_HOME"
share "$here"
for argument in "$@"; do
    case $argument in --*=*) argument=${argument#*=} ;; esac
    share_named "$argument"
done
for named in "${ORCHESTRATOR_ALLOWED_SIGNERS:-}" "${ORCHESTRATOR_DATA:-}"; do
    share_named "$named"
done
IFS=:
for named in ${ORCHESTRATOR_FOLDERS:-}; do
    unset IFS
    [ -d "$named" ] || fail 2 "ORCHESTRATOR_FOLDERS: $named: no such folder"
    share_named "$named"
    IFS=:
done
unset IFS
share "$cache"
share "$data"
# Runs of all users of this host take turns by a file, with a queue beside it, in the first folder of these that everybody may write to.
if [ -n "${ORCHESTRATOR_LOCK_FOLDER:-}" ]; then
    mkdir -p -- "$ORCHESTRATOR_LOCK_FOLDER" 2>/dev/null || :
    share_named "$ORCHESTRATOR_LOCK_FOLDER/."
elif [ -n "$(find /run/lock -maxdepth 0 -type d -perm -0002 2>/dev/null)" ]; then
    export ORCHESTRATOR_LOCK_FOLDER=/run/lock
    share /run/lock
else
    export ORCHESTRATOR_LOCK_FOLDER=/tmp
    turns=/tmp/framework-bench-measuring.lock
    (umask 022 && set -C && : >"$turns") 2>/dev/null || :
    [ -L "$turns" ] || [ ! -f "$turns" ] || share "$turns"
    (mkdir "$turns.queue" && chmod 1777 "$turns.queue") 2>/dev/null || :
    [ -L "$turns.queue" ] || [ ! -d "$turns.queue" ] || share "$turns.queue"
fi

set -- "$image_id" "$@"
IFS=$line_break
for folder in $folders; do
    set -- --mount "type=bind,\"source=$folder\",\"target=$folder\"" "$@"
done
for name in $(env | sed -n 's/^\(ORCHESTRATOR_[A-Za-z0-9_]*\)=.*/\1/p'); do
    set -- --env "$name" "$@"
done
unset IFS
for name in HOME XDG_CACHE_HOME XDG_DATA_HOME DOCKER_HOST NO_COLOR TERM COLUMNS LANG TZ; do
    set -- --env "$name" "$@"
done
for group in $(id -G) "$(stat -L -c %g "$socket")"; do
    set -- --group-add "$group" "$@"
done
user=$(id -u):$(id -g)
# A rootless engine belongs to the user, who is its root.
[ "$(id -u)" = 0 ] || [ "$(stat -L -c %u "$socket")" != "$(id -u)" ] || user=0:0
allowed=$(sed -n 's/^Cpus_allowed_list:[[:space:]]*//p' /proc/self/status)
if [ -n "$allowed" ] && [ "$allowed" != "$(cat /sys/devices/system/cpu/online 2>/dev/null)" ]; then
    set -- --cpuset-cpus "$allowed" "$@"
fi
if [ -e /proc/driver/nvidia/version ] && command -v nvidia-container-runtime-hook >/dev/null 2>&1; then
    # To be asked what there is; cells get devices of their own from the engine.
    set -- --gpus all --env NVIDIA_DRIVER_CAPABILITIES=utility "$@"
fi
case $line_break$folders in *"$line_break/tmp$line_break"*) ;; *) set -- --tmpfs /tmp:exec,mode=1777 "$@" ;; esac
if [ -t 0 ] && [ -t 1 ]; then
    set -- --interactive --tty "$@"
fi
# The host's processes and name, because it tells who disturbs a measurement, and on which host it was made.
exec docker run --rm --network none --pid host --uts host --read-only --security-opt no-new-privileges \
    --security-opt label=disable --user "$user" --workdir "$here" \
    --mount "type=bind,\"source=$socket\",\"target=$socket\"" "$@"
