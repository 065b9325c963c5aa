/** What an agent sends to ask for a decision, as a command; AGENT_KEY holds a key of the workspace. No value of it has a quote. */
export function callCommand(members: object): string {
  const call = { action: 'tool.call', ...members, session_id: 'first-session' };
  return `curl -sS ${location.origin}/api/v1/evaluate \\
  -H "Authorization: Bearer $AGENT_KEY" -H 'Content-Type: application/json' \\
  -d '${JSON.stringify(call)}'`;
}
