import { readFileSync, writeFileSync } from 'node:fs';
import { parseArgs } from 'node:util';
import { ConformanceScope, type ConformanceProof } from '@countersign/contracts/governance-kernel';
import { createKernelClient, type KernelClient } from '@countersign/contracts/routes';
import { parseStrictJson } from '@countersign/crypto';
import { nodeProvider } from '@countersign/crypto/node';
import { problemText } from '@countersign/service-kit';
import {
  conformanceAnswer,
  conformanceStatus,
  describeConformance,
  forTerminal,
  jsonForTerminal,
  parseKeySet,
  type TrustedKey,
} from '@countersign/verifier';
import { collectProof } from './collect-proof.ts';
import { readVectors } from './read-vectors.ts';

const usageText = `Usage: node services/governance-kernel/dist/conformance/command.js <url> --key-file <file> [options]
       make conformance [url= key=FILE] [scope=] [keys=] [out=] [json=1]

Has a deployment execute the conformance vectors, in tenants without members, and checks what it signed: that it executed the vectors of
this command, that each verdict follows from what was seen, and that the log has all of it. Nothing of any other tenant is touched.

  --key-file <file>   holds the operator key; make conformance without url= and key= asks the make up of this folder
  --scope <scope>     full, or short: everything in process and one live call; full unless given
  --keys <file>       the keys you trust, as /api/v1/trust/keys serves them; without it, those that the deployment serves
  --out <file>        keep the proof, for countersign-verify --conformance
  --json              print the answer as JSON
  --help

Exit status: 0 it passed, and that is proven; 1 it failed, or is not proven; 2 could not run; 4 undecidable: a key is unknown.
`;
/** The longest time of a run, and a little for the way. */
const timeoutMs = 150_000;
const keysLimits = { bytesMax: 1_048_576, depthMax: 16 };
const tellEveryMs = 5_000;

/** A kernel, and the operator key that it takes. */
type NamedKernel = { url: string; apiKey: string };

/** `tell` is for eyes: what goes on, and nothing that a program reads. */
type Streams = { write(text: string): void; tell(text: string): void };

/** The whole command; `findHere` finds the kernel of one that names none. Resolves to the exit status; never rejects. */
export async function runCommand(argv: string[], streams: Streams, findHere?: () => NamedKernel): Promise<number> {
  try {
    const asked = readArguments(argv, findHere);
    if (asked !== null) return await proveDeployment(asked, streams);
    streams.write(usageText);
    return 0;
  } catch (error) {
    streams.tell(`${forTerminal(problemText(error))}\n`);
    return 2;
  }
}

async function proveDeployment(asked: Asked, { write, tell }: Streams): Promise<number> {
  const client = createKernelClient({ baseUrl: asked.url, apiKey: asked.apiKey, timeoutMs });
  const own = readVectors(nodeProvider);
  const pinned = asked.keys === undefined ? null : parseKeySet(jsonOf(asked.keys));
  const proof = await runAndCollect(client, asked.scope, tell);
  if (asked.out !== undefined) writeFileSync(asked.out, `${JSON.stringify(proof)}\n`);
  const trust = pinned ?? (await servedKeys(client));
  const answer = conformanceAnswer(proof, { trust, provider: nodeProvider, vectorsHash: own.hash });
  if (pinned === null) tell('The keys are those that the deployment serves: pin them with --keys\n');
  write(asked.json ? `${jsonForTerminal({ ...answer, failed: failedOf(proof) })}\n` : describeConformance(answer));
  if (!asked.json)
    for (const { vector_id, detail } of failedOf(proof)) write(forTerminal(`  failed: ${vector_id}: ${detail}`) + '\n');
  return conformanceStatus(answer);
}

async function runAndCollect(client: KernelClient, scope: ConformanceScope, tell: Streams['tell']) {
  const system = client.as({ tenant: 'system' });
  const vectors = (await system.listConformanceVectors()).body.data;
  tell(`${vectors.length} vectors; a ${scope} run goes on\n`);
  const startedMs = performance.now();
  const seconds = () => Math.round((performance.now() - startedMs) / 1_000);
  const timer = setInterval(() => tell(`  ${seconds()} s\n`), tellEveryMs);
  try {
    const signed = (await system.runConformance({ body: { scope } })).body;
    tell(`It ended after ${seconds()} s; reading what it sealed\n`);
    return await collectProof(client, { signed, vectors });
  } finally {
    clearInterval(timer);
  }
}

async function servedKeys(client: KernelClient): Promise<TrustedKey[]> {
  return parseKeySet((await client.as({ tenant: 'system' }).listTrustKeys()).body);
}

function failedOf({ signed }: ConformanceProof) {
  return signed.report.results
    .filter(({ outcome }) => outcome === 'failed')
    .map(({ vector_id, detail }) => ({ vector_id, detail }));
}

type Asked = NamedKernel & {
  scope: ConformanceScope;
  keys?: string | undefined;
  out?: string | undefined;
  json: boolean;
};

/** Null: it is asked what it can do. */
function readArguments(argv: string[], findHere?: () => NamedKernel): Asked | null {
  const { values, positionals } = parseArgs({
    args: argv,
    allowPositionals: true,
    options: {
      'key-file': { type: 'string' },
      scope: { type: 'string', default: 'full' },
      keys: { type: 'string' },
      out: { type: 'string' },
      json: { type: 'boolean', default: false },
      help: { type: 'boolean', default: false },
    },
  });
  if (values.help) return null;
  const scope = ConformanceScope.safeParse(values.scope).data;
  const { keys, out, json, 'key-file': keyFile } = values;
  const isHere = positionals.length === 0 && keyFile === undefined;
  const kernel = isHere && scope !== undefined ? findHere?.() : namedKernel(positionals, keyFile);
  if (kernel === undefined || scope === undefined)
    throw new Error('this takes the URL of a kernel, --key-file, and a scope of full or short; see --help');
  return { ...kernel, scope, keys, out, json };
}

function namedKernel([url, ...rest]: string[], keyFile: string | undefined): NamedKernel | undefined {
  if (url === undefined || !URL.canParse(url) || rest.length > 0 || keyFile === undefined) return undefined;
  return { url: url.replace(/\/+$/, ''), apiKey: readKey(keyFile) };
}

function readKey(file: string): string {
  const key = keyIn(file);
  if (!/^[\x21-\x7e]+$/.test(key)) throw new Error(`${file} does not hold one key`);
  return key;
}

function jsonOf(file: string): unknown {
  return parseStrictJson(readFileSync(file), keysLimits);
}

/** A user who passes the key itself in its place gets an error that does not repeat the key. */
function keyIn(file: string): string {
  try {
    return readFileSync(file, 'utf8').trim();
  } catch {
    throw new Error(
      '--key-file (key= of make) takes the name of a file with the key in it, and this one cannot be read',
    );
  }
}
