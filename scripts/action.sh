#!/bin/bash
# The step of action.yml: installs gpusafe from its folder, checks, writes annotations, SARIF and the job's summary.
# All that users give comes in through the environment, so that nothing of it is read as a command.
set -euo pipefail

if [ -z "${GPUSAFE_COMMAND:-}" ]; then
    folder=${RUNNER_TEMP:-/tmp}/gpusafe-venv
    [ -x "$folder/bin/gpusafe" ] || [ -x "$folder/Scripts/gpusafe.exe" ] || {
        python -m venv "$folder" 2>/dev/null || python3 -m venv "$folder"
        bin=$folder/bin
        [ -d "$bin" ] || bin=$folder/Scripts
        "$bin/python" -m pip install -q --disable-pip-version-check "$GPUSAFE_SOURCE"
    }
    GPUSAFE_COMMAND=$folder/bin/gpusafe
    [ -x "$GPUSAFE_COMMAND" ] || GPUSAFE_COMMAND=$folder/Scripts/gpusafe.exe
fi

read -r -a paths <<<"${GPUSAFE_PATHS:-.}"
read -r -a more <<<"${GPUSAFE_ARGS:-}"
also=
if [ -n "${GPUSAFE_SARIF:-}" ]; then also=sarif=$GPUSAFE_SARIF; fi
summary=$(mktemp)
if [ "${GPUSAFE_SUMMARY:-true}" = true ]; then also=${also:+$also,}markdown=$summary; fi

command=("$GPUSAFE_COMMAND" check --format github)
if [ -n "$also" ]; then command+=(--also "$also"); fi
if [ -n "${GPUSAFE_FAIL_ON:-}" ]; then command+=(--fail-on "$GPUSAFE_FAIL_ON"); fi
if [ "${GPUSAFE_STRICT:-false}" = true ]; then command+=(--strict); fi
if [ -n "${GPUSAFE_CHANGED_SINCE:-}" ]; then command+=(--changed-since "$GPUSAFE_CHANGED_SINCE"); fi

status=0
"${command[@]}" ${more[@]+"${more[@]}"} "${paths[@]}" || status=$?

if [ -n "${GITHUB_STEP_SUMMARY:-}" ] && [ -s "$summary" ]; then cat "$summary" >>"$GITHUB_STEP_SUMMARY"; fi
rm -f "$summary"
{
    echo "status=$status"
    if [ -n "${GPUSAFE_SARIF:-}" ] && [ -f "$GPUSAFE_SARIF" ]; then
        case ${GPUSAFE_FOLDER:-.} in
        . | ./) echo "sarif-file=$GPUSAFE_SARIF" ;;
        *) echo "sarif-file=${GPUSAFE_FOLDER%/}/$GPUSAFE_SARIF" ;;
        esac
    fi
} >>"${GITHUB_OUTPUT:-/dev/stdout}"
exit "$status"
