import { readFileSync, writeFileSync } from 'node:fs';
import { gzipSync } from 'node:zlib';
import { serviceNames } from '../../infra/services/dist/index.js';

/*
 * Writes the OpenAPI documents of all services as the contract of this release. A test refuses what breaks its clients.
 *
 *   make build && node contracts/scripts/release.mjs
 */
const contracts = new URL('..', import.meta.url);
const { version } = JSON.parse(readFileSync(new URL('package.json', contracts), 'utf8'));
const documentOf = (name) => JSON.parse(readFileSync(new URL(`openapi/${name}.json`, contracts), 'utf8'));
const documents = Object.fromEntries(serviceNames.map((name) => [name, documentOf(name)]));
const path = new URL('released/openapi.json.gz', contracts);
writeFileSync(path, gzipSync(JSON.stringify({ version, documents }), { level: 9 }));
console.log(`Wrote the contract of ${version} to contracts/released/openapi.json.gz`);
