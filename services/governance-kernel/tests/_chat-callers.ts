import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { adminKey } from './_kernel.ts';

export type Statement = { status: number; code: string | null; text: string; isReplayed: boolean };

export function keyedHeaders(key: string): Record<string, string> {
  return {
    authorization: `Bearer ${adminKey}`,
    'x-gov-tenant-id': 'acme',
    'x-gov-session-id': key,
    'content-type': 'application/json',
    'idempotency-key': key,
  };
}

export function chatBody(content: string): string {
  return JSON.stringify({ model: 'scripted', messages: [{ role: 'user', content }] });
}

/** Sends one chat with an idempotency key. The key is also the session, so that tests find the chat in the ledger. */
export async function askOnce(url: string, key: string, content = key): Promise<Statement> {
  const response = await fetch(`${url}/v1/chat/completions`, {
    method: 'POST',
    headers: keyedHeaders(key),
    body: chatBody(content),
  });
  const text = await response.text();
  const { error } = JSON.parse(text) as { error?: { code: string } };
  const isReplayed = response.headers.get('idempotency-replayed') === 'true';
  return { status: response.status, code: error?.code ?? null, text, isReplayed };
}

/** Repeats the request while an earlier request with the same key is still running. */
export async function askUntilAnswered(url: string, key: string): Promise<Statement> {
  for (;;) {
    const answer = await askOnce(url, key);
    if (answer.code !== 'IDEMPOTENCY_IN_FLIGHT') return answer;
    await new Promise((resolve) => setTimeout(resolve, 25)); // pause between two requests
  }
}

const program = `
  const [url, requests] = [process.argv[1], JSON.parse(process.argv[2])];
  process.stdout.write('started\\n');
  await Promise.all(requests.map((request) => fetch(url, request).then((answer) => answer.text()).catch(() => undefined)));
`;

/** Runs a process that sends one chat per key at once. It is killed with SIGKILL when `life` resolves. */
export async function callAndDie(url: string, keys: readonly string[], life: () => Promise<unknown>): Promise<void> {
  const requests = keys.map((key) => ({ method: 'POST', headers: keyedHeaders(key), body: chatBody(key) }));
  const args = ['--input-type=module', '-e', program, `${url}/v1/chat/completions`, JSON.stringify(requests)];
  const child = spawn(process.execPath, args, { stdio: ['ignore', 'pipe', 'inherit'] });
  const gone = once(child, 'exit');
  await Promise.race([once(createInterface(child.stdout), 'line'), gone]);
  await life();
  child.kill('SIGKILL');
  await gone;
}
