// The floors: what an HTTP server costs that parses a JSON body and answers it. Usage: echo-server.mjs node | express
import { createServer } from 'node:http';
import express from 'express';

const server = createServer(process.argv[2] === 'express' ? expressEcho() : nodeEcho);
server.listen(0, '127.0.0.1', () =>
  process.send({ ready: true, url: `http://127.0.0.1:${server.address().port}/echo` }),
);
process.once('disconnect', () => process.exit());

function nodeEcho(req, res) {
  const chunks = [];
  req.on('data', (chunk) => chunks.push(chunk));
  req.on('end', () => {
    const text = JSON.stringify(JSON.parse(Buffer.concat(chunks).toString('utf8')));
    res.writeHead(200, { 'content-type': 'application/json', 'content-length': Buffer.byteLength(text) });
    res.end(text);
  });
}

function expressEcho() {
  return express()
    .use(express.json())
    .post('/echo', (req, res) => res.json(req.body));
}
