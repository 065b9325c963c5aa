import { CommandFailed } from '../command-failed.ts';
import type { Connection } from './connection.ts';
import { refusalWords } from './refusal-words.ts';

type Asked = { path: string; body?: object; signal: AbortSignal };

/** An answer of lines. Throws CommandFailed with what the server says where it refuses. */
export async function openStream(connection: Connection, { path, body, signal }: Asked): Promise<Response> {
  const headers = { ...(await connection.headers()), 'content-type': 'application/json' };
  const request =
    body === undefined ? { headers, signal } : { method: 'POST', headers, signal, body: JSON.stringify(body) };
  const response = await fetch(new URL(path, connection.url), request);
  if (response.ok) return response;
  const { error } = (await response.json().catch(() => ({}))) as { error?: { message?: unknown; code?: unknown } };
  const message = String(error?.message ?? response.statusText);
  const { said, nextStep } = refusalWords(message, String(error?.code ?? response.status));
  throw new CommandFailed(nextStep === null ? said : `${said}. ${nextStep}`, 1);
}
