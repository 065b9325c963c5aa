/** The authority of a CONNECT request (RFC 9110 §9.3.6). Attacker-controlled. `null` when it is malformed. */
export function parseAuthority(authority: string): { host: string; port: number; destination: string } | null {
  const groups = /^(?<host>\[[0-9a-f:.]{2,45}\]|[a-z0-9.-]{1,253}):(?<port>[0-9]{1,5})$/i.exec(authority)?.groups;
  const host = groups?.['host']?.toLowerCase().replace(/\.$/, '');
  const port = Number(groups?.['port']);
  if (host === undefined || host === '' || port < 1 || port > 65_535) return null;
  return { host: host.replace(/^\[|\]$/g, ''), port, destination: `${host}:${port}` };
}
