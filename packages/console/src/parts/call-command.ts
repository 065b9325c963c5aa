/**
 * A `curl` command that requests a decision for an agent. No value may contain a quote. WORKSPACE_KEY is a key of the
 * workspace, because the AGENT_KEY that `make up` writes belongs to another tenant.
 */
export function callCommand(members: object): string {
  const call = { action: 'tool.call', ...members, session_id: 'first-session' };
  return `curl -sS ${location.origin}/api/v1/evaluate \\
  -H "Authorization: Bearer $WORKSPACE_KEY" -H 'Content-Type: application/json' \\
  -d '${JSON.stringify(call)}'`;
}
