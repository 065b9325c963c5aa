import type { IncomingMessage, ServerResponse } from 'node:http';
import { hostHeaderValidation, originValidation } from '@modelcontextprotocol/node';

/** Answers 403 itself and returns false for a Host or Origin that is not allowed: a page that rebinds its name reaches no tool. */
export type OriginGuard = (req: IncomingMessage, res: ServerResponse) => boolean;

const localNames = ['localhost', '127.0.0.1', '[::1]'];

/** Local names always pass; `hosts` and `origins` are host names (without a port) that the operator allows beside them. */
export function createOriginGuard({
  hosts,
  origins,
}: {
  hosts: readonly string[];
  origins: readonly string[];
}): OriginGuard {
  const validHost = hostHeaderValidation([...localNames, ...hosts]);
  const validOrigin = originValidation([...localNames, ...origins.map(hostname)]);
  return (req, res) => validHost(req, res) && validOrigin(req, res);
}

/** CORS origins are written as `https://console.example`; the guard compares host names. */
function hostname(origin: string): string {
  return URL.canParse(origin) ? new URL(origin).hostname : origin;
}
