#!/bin/sh
#SBATCH --job-name=bench-20260102T030405Z-abcd-1
#SBATCH --array=0-1%2
#SBATCH --nodes=2
#SBATCH --ntasks-per-node=1
#SBATCH --exclusive
#SBATCH --mem=0
#SBATCH --gres=gpu:h100:2
#SBATCH --time=40
#SBATCH --signal=B:USR1@90
#SBATCH --no-requeue
#SBATCH --export=NONE
#SBATCH --output=/shared/results/20260102T030405Z-abcd/logs/%A_%a.log
#SBATCH --partition=gpu
#SBATCH --account=bench
#SBATCH --constraint=icelake&hdr
#SBATCH --reservation=quiet
#SBATCH --comment="a note"
#SBATCH --contiguous
#SBATCH --exclude=node9,node1
#SBATCH --qos=low
# Written by the orchestrator for one submission. A later one has a script of its own.
module load docker
export ORCHESTRATOR_BASE_IMAGE='python:{python}-slim'
set -- 003 001
shift "$SLURM_ARRAY_TASK_ID"
part=/shared/results/20260102T030405Z-abcd/parts/"$1"
echo "part $1 on $SLURM_JOB_NODELIST"
wheel='/shared/my wheels/bench-1.whl'
hash=$(sha256sum "$wheel" | cut -c 1-16)
installed='/shared/my wheels'/.orchestrator-$hash
if [ ! -e "$installed" ]; then
    (
        # The lock saves work where it holds between nodes. What makes it safe is the rename, which one node wins.
        flock -w 900 9 || true
        [ ! -e "$installed" ] || exit 0
        new=$installed.$SLURM_JOB_ID
        python3.11 -m venv "$new" && "$new/bin/python" -m pip install --quiet --no-index --find-links '/shared/my wheels' "$wheel" &&
            { mv -T "$new" "$installed" 2>/dev/null || [ -e "$installed" ]; }
    ) 9>"$installed.lock" || exit 3
fi
set -- "$installed/bin/python" -m orchestrator
warned=
trap 'warned=1; woken=1; scancel --signal=TERM "${SLURM_ARRAY_JOB_ID}_$SLURM_ARRAY_TASK_ID"' USR1
trap woken=1 TERM
srun --export=ALL --nodes=2 --ntasks=2 --ntasks-per-node=1 --cpu-bind=none --kill-on-bad-exit=0 --wait=0 --label \
    "$@" run --part "$part" &
step=$!
status=127
while woken=; wait "$step"; last=$?; [ "$last" = 127 ] || status=$last; [ -n "$woken" ]; do :; done
[ "$status" = 0 ] || [ -z "$warned" ] || { echo "stopped before the time limit of this job"; exit 124; }
exit "$status"
