# Stops the children of a launcher that was killed: config/processes.py starts it and says why it exists.
#
# The launcher tells on our input which processes it starts ("+PID"), which have ended ("-PID"), and that it has
# stopped them all itself ("done"). The end of our input without that word is the end of a launcher that could not.
# A shell, because it waits for as long as the installation runs and holds a twentieth of what a Python would.

patience_seconds=$1
trap '' INT TERM HUP
running=''

forget() {
    kept=''
    for pid in $running; do
        [ "$pid" = "$1" ] || kept="$kept $pid"
    done
    running=$kept
}

is_any_running() {
    for pid in $running; do
        if kill -0 "$pid" 2>/dev/null; then return 0; fi
    done
    return 1
}

while read -r line; do
    case $line in
        +*) running="$running ${line#+}" ;;
        -*) forget "${line#-}" ;;
        done) exit 0 ;;
    esac
done

for pid in $running; do
    kill -TERM "$pid" 2>/dev/null
done
tenths=$((patience_seconds * 10))
while [ "$tenths" -gt 0 ] && is_any_running; do
    sleep 0.1
    tenths=$((tenths - 1))
done
for pid in $running; do
    # Its session: its own children may have outlived it.
    kill -KILL "-$pid" 2>/dev/null
done
