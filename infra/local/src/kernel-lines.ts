import type { Log } from '@countersign/service-kit';
import { forTerminal } from '@countersign/verifier';

type Fields = Readonly<Record<string, unknown>> | undefined;
type Line = (fields: Fields) => string;

const informed: Record<string, Line> = {
  'policy.activated': (fields) => `Policy activated: ${described(fields)}`,
  'policy.confirmed': (fields) => `Policy unchanged: ${described(fields)}`,
};
const warned: Record<string, Line> = {
  'policy.file_refused': (fields) =>
    `Policy refused, the earlier policy stays in force: ${String(fields?.['problem'])}`,
  'mcp_server.unreachable': (fields) =>
    `MCP server ${serverOf(fields)} did not connect: ${String(fields?.['problem'])}. Trying again.`,
  'mcp_server.lost': (fields) => `MCP server ${serverOf(fields)} ended. Trying again.`,
};

/** Prints events about the policy file and MCP servers as sentences. All other events are passed on. */
export function withKernelLines(log: Log, write: (text: string) => void): Log {
  const say = (line: string) => write(`${forTerminal(line)}\n`);
  const away = new Set<string>();
  return {
    ...log,
    info: (event, fields) => {
      const line = informed[event];
      if (line !== undefined) say(line(fields));
      else if (event === 'mcp_server.connected' && away.delete(serverOf(fields)))
        say(`MCP server ${serverOf(fields)} is connected.`);
      else log.info(event, fields);
    },
    warn: (event, fields) => {
      const line = warned[event];
      if (line === undefined) return log.warn(event, fields);
      if (event.startsWith('mcp_server.')) away.add(serverOf(fields));
      say(line(fields));
    },
  };
}

function serverOf(fields: Fields): string {
  return String(fields?.['server_id']);
}

const hashPrefixLength = 'sha256:'.length + 12;

function described(fields: Fields = {}): string {
  const { name, version, policy_hash: hash, epoch, path } = fields;
  return `${String(name)} ${String(version)}, ${String(hash).slice(0, hashPrefixLength)}, epoch ${String(epoch)}, ${String(path)}`;
}
