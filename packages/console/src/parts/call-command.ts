/**
 * The request for a decision of an agent, as a command. No value of it has a quote. WORKSPACE_KEY holds a key of the
 * workspace: the AGENT_KEY that `make up` writes down is of another tenant.
 */
export function callCommand(members: object): string {
  const call = { action: 'tool.call', ...members, session_id: 'first-session' };
  return `curl -sS ${location.origin}/api/v1/evaluate \\
  -H "Authorization: Bearer $WORKSPACE_KEY" -H 'Content-Type: application/json' \\
  -d '${JSON.stringify(call)}'`;
}
