// The floors: the cost of an HTTP server that parses a JSON body and echoes it. Usage: echo-server.js node | express |
// signing
import { createServer, type RequestListener } from 'node:http';
import type { AddressInfo } from 'node:net';
import { encodeBase64Url } from '@countersign/crypto';
import { createSigner, generateSigningKey } from '@countersign/crypto/signing';
import express from 'express';

const kinds: Record<string, () => RequestListener> = {
  node: () => nodeEcho((text) => text),
  express: expressEcho,
  signing: signingEcho,
};

const listener = kinds[process.argv[2] ?? '']?.();
if (listener === undefined) throw new Error(`Usage: echo-server.js ${Object.keys(kinds).join(' | ')}`);
const server = createServer(listener);
server.listen(0, '127.0.0.1', () => {
  const { port } = server.address() as AddressInfo; // the server listens on a TCP address, not on a pipe
  process.send?.({ url: `http://127.0.0.1:${port}/echo` });
});
process.once('disconnect', () => process.exit());

function nodeEcho(answerOf: (text: string) => string): RequestListener {
  return (req, res) => {
    const chunks: Buffer[] = [];
    req.on('data', (chunk: Buffer) => chunks.push(chunk));
    req.on('end', () => {
      const text = answerOf(JSON.stringify(JSON.parse(Buffer.concat(chunks).toString('utf8'))));
      res.writeHead(200, { 'content-type': 'application/json', 'content-length': Buffer.byteLength(text) });
      res.end(text);
    });
  };
}

/**
 * The lower bound of a signed answer: the echo, and one Ed25519 signature over it, made as the kernel makes its own.
 */
function signingEcho(): RequestListener {
  const signer = createSigner(generateSigningKey().privateKeyPem);
  return nodeEcho((text) => {
    const signature = encodeBase64Url(signer.sign(Buffer.from(text)));
    return `${text.slice(0, -1)},"signature":"${signature}"}`;
  });
}

function expressEcho(): RequestListener {
  return express()
    .use(express.json())
    .post('/echo', (req, res) => {
      res.json(req.body);
    });
}
