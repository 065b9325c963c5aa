import { expect, it } from '@jest/globals';
import { sendOperation } from '../src/doors/mcp/send-operation.ts';

/** A client of a server that asks to open this address. */
const clientOf = (url: string) => {
  const params = { mode: 'url', message: 'Sign in', url, elicitationId: 'one' };
  const result = { resultType: 'input_required', inputRequests: { page: { method: 'elicitation/create', params } } };
  return { callTool: () => Promise.resolve(result) } as never; // its other methods are not called
};
const send = (url: string) => {
  const tool = { name: 'act', inputSchema: { type: 'object' } } as const;
  return sendOperation(clientOf(url), { tool, args: {}, input: null, elicitation: { url: {} } }, {});
};

it('a server can ask to open a web page', async () => {
  expect((await send('https://bank.example/sign-in')).questions?.requests).toHaveProperty('page');
});

it.each(['https://bank.example@evil.example/', 'https://bank.example:443@evil.example/', 'https://:x@evil.example/'])(
  'a server cannot ask to open %s, whose user name looks like a host',
  async (url) => {
    await expect(send(url)).rejects.toThrow('contains a user name');
  },
);

it.each(['javascript:alert(1)', 'file:///etc/passwd', 'not an address'])('%s is not a web page', async (url) => {
  await expect(send(url)).rejects.toThrow('not a web page');
});
