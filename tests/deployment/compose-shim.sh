# The `compose` of docs/operations.md, implemented with podman-compose. Its older versions lack --wait, and pass no
# standard input to commands.
id_of() {
  podman ps --all --quiet --filter label=com.docker.compose.project=countersign-deploy-test \
    --filter "label=com.docker.compose.service=$1"
}
healthy() {
  tries=0
  until podman healthcheck run "$(id_of "$1")" >/dev/null 2>&1; do
    tries=$((tries + 1))
    [ "$tries" -lt 120 ] || { echo "$1 is not healthy" >&2; return 1; }
    sleep 1
  done
}
compose() {
  if [ "$1" = exec ]; then
    container=$(id_of "$3")
    shift 3
    podman exec --interactive "$container" "$@"
    return
  fi
  waits=0
  kept=''
  for word in "$@"; do
    if [ "$word" = --wait ]; then waits=1; else kept="$kept $word"; fi
  done
  # shellcheck disable=SC2086 # words of ours
  podman-compose --project-name countersign-deploy-test --file compose.yaml $kept
  [ "$waits" -eq 1 ] || return 0
  case "$kept" in
  *postgres*) healthy postgres && healthy rabbitmq ;;
  *) healthy postgres && healthy kernel && healthy gateway && healthy control-plane ;;
  esac
}
