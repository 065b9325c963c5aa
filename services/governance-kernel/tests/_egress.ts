import { connect } from 'node:net';
import type { EgressProxy } from '../src/controls/sandbox/egress-proxy.ts';

/** The proxy's answer to CONNECT, and the bytes that came through the tunnel. */
export async function connectedBy({ path }: EgressProxy, destination: string): Promise<string> {
  const socket = connect(path, () => socket.write(`CONNECT ${destination} HTTP/1.1\r\nHost: x\r\n\r\n`));
  let text = '';
  for await (const chunk of socket) {
    if (text === '') socket.write('hello');
    text += String(chunk);
  }
  return text;
}
