#!/bin/sh
# Checks this bundle, installs the orchestrator that is in it, and lets that load the rest. Needs a shell, the usual
# tools (find, sed, sort, sha256sum) and Docker 20.10 or newer. `sh install.sh --help` lists the options.
set -eu
bundle='@BUNDLE@'
version='@VERSION@'
image='@IMAGE@'
image_id='@IMAGE_ID@'
pythons='@PYTHONS@'
machine='@MACHINE@'
base_name='@BASE_NAME@'
base_sha256='@BASE_SHA256@'
namespace='@NAMESPACE@'
mark='# framework-bench: '

usage() {
    cat <<END
usage: sh install.sh [--container | --python PATH] [--to DIR] [--allowed-signers FILE] [--no-load]

  --container             run the orchestrator from its own image, even where there is a Python for it
  --python PATH           install it for this Python ($pythons); by default the first that is found,
                          and the image where none is
  --to DIR                put the command into DIR/bin and what it needs into DIR/lib; \$HOME/.local by default
  --allowed-signers FILE  accept the bundle only from those named here (see ssh-keygen(1)); by default
                          \$ORCHESTRATOR_ALLOWED_SIGNERS, and anybody where that is not set
  --no-load               do not load the images

Exit status: 0 done, 2 the bundle or an option is wrong, 3 this host lacks something.
END
}

say() { printf '%s\n' "$*" >&2; }

fail() {
    status=$1
    shift
    say "install.sh: $*"
    exit "$status"
}

# The first line of what a tool complained about; ssh-keygen ends its lines in the manner of terminals.
first_said() { tr -d '\r' <"$work/said" | sed -n 1p; }

way='' python='' to=${HOME:-}/.local signers=${ORCHESTRATOR_ALLOWED_SIGNERS:-} load=yes
while [ $# -gt 0 ]; do
    case $1 in
    --python | --to | --allowed-signers) [ $# -gt 1 ] || fail 2 "$1 needs a value; see --help" ;;
    esac
    case $1 in
    --container) way=container ;;
    --python) way=python python=$2 && shift ;;
    --to) to=$2 && shift ;;
    --allowed-signers) signers=$2 && shift ;;
    --no-load) load=no ;;
    -h | --help) usage && exit 0 ;;
    *) fail 2 "unknown option $1; see --help" ;;
    esac
    shift
done
[ -n "$to" ] && [ "$to" != /.local ] || fail 2 'HOME is not set; say --to DIR'
absolute() { case $1 in /*) printf '%s' "$1" ;; *) printf '%s/%s' "$(pwd)" "$1" ;; esac; }
to=$(absolute "$to")
[ -z "$signers" ] || signers=$(absolute "$signers")
case $python in */*) python=$(absolute "$python") ;; esac
cd "$(dirname -- "$0")"
place=$(pwd)

work=$(mktemp -d "${TMPDIR:-/tmp}/install.XXXXXX") || fail 3 'no temporary folder; set TMPDIR'
unfinished=
# shellcheck disable=SC2329  # called by trap
clean_up() {
    rm -rf -- "$work"
    [ -z "$unfinished" ] || rm -rf -- "$unfinished"
}
trap clean_up EXIT
trap 'exit 130' INT
trap 'exit 143' TERM

# --- The bundle is what it was when it was written.

again='the bundle is damaged or was changed: carry it again'
for tool in find grep sed sort cmp sha256sum; do
    command -v "$tool" >/dev/null 2>&1 || fail 3 "there is no $tool here"
done
[ ! -e .unfinished.json ] || fail 2 "$place: its export was interrupted; finish it first"
for file in manifest.json SHA256SUMS; do
    [ -f "$file" ] || fail 2 "$place: there is no $file; $again"
done
LC_ALL=C
export LC_ALL
strange=$(find . ! -type f ! -type d | sed -n 1p)
[ -z "$strange" ] || fail 2 "$strange: a bundle holds plain files and folders alone"
strange=$(find . -name '*[[:cntrl:]\\]*' | sed -n 1p | tr -d '[:cntrl:]')
[ -z "$strange" ] || fail 2 "$strange: a name in the bundle holds a control character or a backslash; $again"
find . -type f | sed 's|^\./||' | sort >"$work/there"
{
    sed 's/^[0-9a-f]\{64\}  //' SHA256SUMS
    echo SHA256SUMS
    [ ! -f manifest.json.sig ] || echo manifest.json.sig
} | sort >"$work/named"
surplus=$(grep -vxFf "$work/named" "$work/there" | sed -n 1p)
[ -z "$surplus" ] || fail 2 "$surplus is not in SHA256SUMS; $again"
missing=$(grep -vxFf "$work/there" "$work/named" | sed -n 1p)
[ -z "$missing" ] || fail 2 "$missing is missing; $again"

# The files of manifest.json as `sha256sum` writes them: those of the bundle, and those that an earlier one has. Of
# what JSON escapes, their names may hold the quotation mark alone.
listed() {
    sed -n "$1"'{/^ *"path"/{s/^ *"path": "\(.*\)",$/\1/;s/\\"/"/g;p;};s/^ *"sha256": "\([0-9a-f]\{64\}\)"$/\1/p;}' manifest.json |
        sed 'N;s/^\(.*\)\n\(.*\)$/\2  \1/' | sort
}
listed '/^ "files": /,/^ "base": /' >"$work/files"
listed '/^ "left_out": /,$' >"$work/left-out"
sed '/^[0-9a-f]\{64\}  manifest\.json$/d' SHA256SUMS | sort | cmp -s - "$work/files" ||
    fail 2 "SHA256SUMS does not say what manifest.json says; $again"

if [ -n "$signers" ]; then
    [ -f "$signers" ] || fail 2 "$signers: no such file of allowed signers"
    [ -f manifest.json.sig ] || fail 2 "$bundle is not signed, while $signers names who must have"
    command -v ssh-keygen >/dev/null 2>&1 || fail 3 'signatures need ssh-keygen, which is not here; install openssh-client'
    ssh-keygen -Y find-principals -s manifest.json.sig -f "$signers" >/dev/null 2>"$work/said" ||
        fail 2 "$bundle is signed by nobody in $signers: $(first_said)"
    # Line by line: ssh-keygen stops at the first line with the key, which may be for other signatures.
    while IFS= read -r line || [ -n "$line" ]; do
        printf '%s\n' "$line" >"$work/signer"
        ssh-keygen -Y find-principals -s manifest.json.sig -f "$work/signer" </dev/null 2>/dev/null || :
    done <"$signers" >"$work/principals"
    signed=no refused=
    while IFS= read -r signer; do
        ssh-keygen -Y verify -f "$signers" -I "$signer" -n "$namespace" -s manifest.json.sig \
            <manifest.json >/dev/null 2>"$work/said" && signed=yes && break
        refused=${refused:-"the signature of $signer does not hold: $(first_said)"}
    done <"$work/principals"
    [ "$signed" = yes ] || fail 2 "${refused:-"$bundle is signed by nobody in $signers"}; $again"
    say "$bundle is signed by $signer"
else
    say "$bundle: who made it is not checked (--allowed-signers FILE does that)"
fi

say 'checking every file …'
sha256sum -c SHA256SUMS >"$work/sums" 2>/dev/null ||
    fail 2 "$(sed -n '/: OK$/!{p;q;}' "$work/sums"): another content than SHA256SUMS says; $again"

# --- What a delta leaves out is in the bundle that it builds on, beside this one.

base=
if grep -q '  orchestrator/' "$work/left-out"; then
    for folder in ../*/; do
        [ -f "$folder/manifest.json" ] || continue
        case $(sha256sum "$folder/manifest.json") in "$base_sha256"*) base=$(cd "$folder" && pwd) ;; esac
    done
    [ -n "$base" ] || fail 2 "the orchestrator is in the bundle $base_name, which this one builds on: put it beside this one"
    grep '  orchestrator/' "$work/left-out" >"$work/base-sums"
    (cd "$base" && sha256sum -c "$work/base-sums") >"$work/sums" 2>/dev/null ||
        fail 2 "$base: $(sed -n '/: OK$/!{p;q;}' "$work/sums"): another content than it should have; carry it again"
fi
# The orchestrator as it was checked, in one folder: nothing else that lies beside a wheel may be installed.
mkdir -p "$work/orchestrator/wheels"
gather() {
    sed -n 's/^.\{66\}\(orchestrator\/\(wheels\/\)\{0,1\}[^/]*\)$/\1/p' "$2" |
        while IFS= read -r path; do ln -s -- "$1/$path" "$work/$path"; done
}
gather "$place" "$work/files"
gather "$base" "$work/left-out"

# --- A Python for it, or its own image.

# Say nothing where a Python can run the wheels, and why not where it cannot.
why_not() {
    "$1" -I -c '
import os, sys, sysconfig, venv
pythons, machine = sys.argv[1].split(), sys.argv[2]
libc = (os.confstr("CS_GNU_LIBC_VERSION") or "other 0.0") if "CS_GNU_LIBC_VERSION" in os.confstr_names else "other 0.0"
name, version = libc.split()
if "%d.%d" % sys.version_info[:2] not in pythons or sys.implementation.name != "cpython":
    print("is %s %d.%d, and there are wheels for CPython %s" % (
        sys.implementation.name, sys.version_info[0], sys.version_info[1], ", ".join(pythons)))
elif sysconfig.get_config_var("Py_GIL_DISABLED"):
    print("has no global lock, and there are no wheels for such")
elif os.uname()[4] != machine:
    print("runs on %s, and the wheels on %s" % (os.uname()[4], machine))
elif name != "glibc" or tuple(map(int, version.split("."))) < (2, @GLIBC_MINOR@):
    print("has %s, and the wheels need glibc 2.@GLIBC_MINOR@" % libc)
' "$pythons" "$machine" 2>/dev/null || echo 'does not run, or has no module venv'
}

if [ -z "$way" ]; then
    for candidate in python3 python3.14 python3.13 python3.12 python3.11; do
        if command -v "$candidate" >/dev/null 2>&1 && [ -z "$(why_not "$candidate")" ]; then
            way=python python=$candidate
            break
        fi
    done
    if [ -z "$way" ]; then
        say "no Python here for which there are wheels ($pythons): it runs from its own image"
        way=container
    fi
elif [ "$way" = python ]; then
    command -v "$python" >/dev/null 2>&1 || fail 3 "$python: there is no such program"
    reason=$(why_not "$python")
    [ -z "$reason" ] || fail 3 "$python $reason; --container needs no Python"
fi
if [ "$way" = container ] || [ "$load" = yes ]; then
    command -v docker >/dev/null 2>&1 || [ "$way" = python ] || fail 3 'there is no command docker here; install Docker 20.10 or newer'
fi

command=$to/bin/orchestrator
if [ -e "$command" ] && ! grep -q "^$mark" "$command" 2>/dev/null; then
    fail 2 "$command is there, and none of ours; say --to DIR"
fi
mkdir -p -- "$to/bin" "$to/lib/framework-bench" 2>/dev/null || fail 3 "$to: cannot be written; say --to DIR"

# Put the command in place in one step: there is the old one or the new one, at any time.
put_command() {
    new=$to/bin/.orchestrator.$$
    { cat >"$new" && chmod 755 "$new" && mv -f -- "$new" "$command"; } ||
        fail 3 "$command: cannot be written; say --to DIR"
}

quoted() { printf "'%s'" "$(printf '%s' "$1" | sed "s/'/'\\\\''/g")"; }

install_for_python() {
    real=$("$python" -I -c 'import sys; print(sys.executable, *sys.version_info[:3])')
    key=$({ printf '%s\n' "$real" && grep -h '  orchestrator/wheels/' SHA256SUMS "$work/left-out"; } | sha256sum | cut -c 1-12)
    program=$to/lib/framework-bench/$version-$key
    if [ ! -f "$program/complete" ]; then
        say "installing for $python …"
        unfinished=$program
        rm -rf -- "$program"
        "$python" -I -m venv --without-pip "$program" || fail 3 "$python: cannot make a virtual environment"
        wheels=$work/orchestrator/wheels
        pip=$(printf '%s\n' "$wheels"/pip-*.whl | sed -n 1p)
        "$program/bin/python" "$pip/pip" install --isolated --quiet --disable-pip-version-check --no-cache-dir \
            --no-index --only-binary :all: --find-links "$wheels" \
            "framework-bench-orchestrator==$version" >"$work/pip" 2>&1 ||
            fail 3 "the wheels cannot be installed: $(sed -n '/ERROR/{p;q;}' "$work/pip")"
        [ "$("$program/bin/orchestrator" --version)" = "$version" ] || fail 3 'what was installed does not run'
        : >"$program/complete"
        unfinished=
    fi
    put_command <<END
#!/bin/sh
${mark}the orchestrator $version, installed from the bundle $bundle.
exec $(quoted "$program/bin/orchestrator") "\$@"
END
}

install_container() {
    engine=$(docker version --format '{{.Server.Version}}' 2>"$work/said") ||
        fail 3 "no container engine answers: $(first_said); start Docker, or join the group docker"
    major=${engine%%.*} minor=${engine#*.}
    minor=${minor%%.*}
    [ "$major" -gt 20 ] || { [ "$major" -eq 20 ] && [ "$minor" -ge 10 ]; } 2>/dev/null ||
        fail 3 "the engine is Docker $engine; 20.10 is the first that serves"
    # By its id: anything may have its name here. An engine with another store of images knows it by another id.
    if docker image inspect "$image_id" >/dev/null 2>&1; then
        docker tag "$image_id" "$image" 2>"$work/said" || fail 3 "the engine did not name $image: $(first_said)"
    else
        archive=$work/orchestrator/image.tar.gz
        [ -f "$archive" ] || fail 2 "orchestrator/image.tar.gz is not in the bundle; $again"
        say 'loading the image of the orchestrator …'
        docker load --quiet <"$archive" >/dev/null 2>"$work/said" ||
            fail 3 "the engine did not take the image of the orchestrator: $(first_said)"
    fi
    image_id=$(docker image inspect --format '{{.Id}}' "$image" 2>/dev/null) ||
        fail 3 "the engine took the image, and does not know it as $image"
    sed "s/^image_id=.*/image_id='$image_id'/" <<'END_OF_COMMAND' | put_command
@COMMAND@
END_OF_COMMAND
}

case $way in
python) install_for_python ;;
container) install_container ;;
esac
say "$command: orchestrator $version"
case :$PATH: in *":$to/bin:"*) ;; *) say "$to/bin is not on your PATH: add it, or write the command in full" ;; esac

# --- The rest is the work of the orchestrator itself.

if [ "$load" = yes ]; then
    [ -z "$signers" ] || { ORCHESTRATOR_ALLOWED_SIGNERS=$signers && export ORCHESTRATOR_ALLOWED_SIGNERS; }
    status=0
    "$command" load "$place" || status=$?
    [ "$status" -eq 0 ] || fail "$status" "the orchestrator is installed; the bundle is not loaded: once that is cured, $command load $place"
fi
