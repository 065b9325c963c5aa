import { CommandFailed } from '../command-failed.ts';
import type { Connection } from './connection.ts';

type Asked = { path: string; body?: object; signal: AbortSignal };

/** An answer of lines. Throws CommandFailed with what the server says where it refuses. */
export async function openStream(connection: Connection, { path, body, signal }: Asked): Promise<Response> {
  const headers = { ...(await connection.headers()), 'content-type': 'application/json' };
  const request =
    body === undefined ? { headers, signal } : { method: 'POST', headers, signal, body: JSON.stringify(body) };
  const response = await fetch(new URL(path, connection.url), request);
  if (response.ok) return response;
  const { error } = (await response.json().catch(() => ({}))) as { error?: { message?: unknown; code?: unknown } };
  throw new CommandFailed(
    `${String(error?.message ?? response.statusText)} (${String(error?.code ?? response.status)})`,
    1,
  );
}
