import { Client, type ClientOptions } from '@modelcontextprotocol/sdk/client/index.js';
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import { adminKey } from './_kernel.ts';

type Message = { method?: string; id?: unknown; result?: unknown };

type Connect = {
  url: string;
  principal?: string;
  tenant?: string;
  session?: string;
  capabilities?: NonNullable<ClientOptions['capabilities']>;
  /** The address for a message, if it differs from `url`. */
  urlFor?: (message: Message) => string | undefined;
};

export const headersOf = ({ principal = 'agent', tenant = 'acme', session }: Omit<Connect, 'url'>) => ({
  authorization: `Bearer ${adminKey}`,
  'x-gov-tenant-id': tenant,
  'x-gov-principal-id': principal,
  ...(session === undefined ? {} : { 'x-gov-session-id': session }),
});

/** A client of revision 2025-11-25, built with the first generation of the SDK. */
export async function sessionClient({ url, urlFor, capabilities = {}, ...named }: Connect) {
  const sent: { message: Message; status: number }[] = [];
  const client = new Client({ name: 'test', version: '1' }, { capabilities });
  const transport = new StreamableHTTPClientTransport(new URL(`${url}/mcp`), {
    requestInit: { headers: headersOf(named) },
    fetch: async (to, init) => {
      if (typeof init?.body !== 'string') return await fetch(to, init);
      const message = JSON.parse(init.body) as Message; // the SDK wrote it
      const answer = await fetch(new URL(`${urlFor?.(message) ?? url}/mcp`), init);
      sent.push({ message, status: answer.status });
      return answer;
    },
  });
  await client.connect(transport); // its optional members are typed differently
  return { client, transport, sent };
}

/** Posts one message as another client would. */
export async function post(url: string, message: object, headers: Record<string, string>) {
  return await fetch(`${url}/mcp`, {
    method: 'POST',
    headers: {
      'content-type': 'application/json',
      accept: 'application/json, text/event-stream',
      'mcp-protocol-version': '2025-11-25',
      ...headers,
    },
    body: JSON.stringify(message),
  });
}

export const initialize = (capabilities: object = {}) => ({
  jsonrpc: '2.0',
  id: 1,
  method: 'initialize',
  params: { protocolVersion: '2025-11-25', capabilities, clientInfo: { name: 'test', version: '1' } },
});
