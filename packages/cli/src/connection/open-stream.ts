import { CommandFailed } from '../command-failed.ts';
import type { Connection } from './connection.ts';
import { refusalWords } from './refusal-words.ts';

type Input = { path: string; body?: object; signal: AbortSignal };

/** Opens a streamed response. Throws CommandFailed with the message of the server if it refuses. */
export async function openStream(connection: Connection, { path, body, signal }: Input): Promise<Response> {
  const headers = { ...(await connection.headers()), 'content-type': 'application/json' };
  const request =
    body === undefined ? { headers, signal } : { method: 'POST', headers, signal, body: JSON.stringify(body) };
  const response = await fetch(new URL(path, connection.url), request);
  if (response.ok) return response;
  const { error } = (await response.json().catch(() => ({}))) as { error?: { message?: unknown; code?: unknown } };
  const message = String(error?.message ?? response.statusText);
  const { message: statement, nextStep } = refusalWords(message, String(error?.code ?? response.status));
  throw new CommandFailed(nextStep === null ? statement : `${statement}. ${nextStep}`, 1);
}
