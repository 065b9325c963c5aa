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

const usageText = `Usage: node services/governance-kernel/dist/evidence/conformance/command.js <url> --key-file <file> [options]
       make conformance [url= key=FILE] [scope=] [keys=] [out=] [json=1]

Makes a deployment execute the conformance vectors in tenants without members, and verifies the signed report: the deployment executed the
vectors of this command, each verdict follows from the answers, and the log contains them. Other tenants are not changed.

  --key-file <file>   contains the operator key; make conformance without url= and key= uses the kernel that make up started
  --scope <scope>     full (default), or short: all in-process vectors and one live call
  --keys <file>       the keys you trust, in the format of /api/v1/trust/keys (default: the keys that the deployment serves)
  --out <file>        write the proof to a file, for countersign-verify --conformance
  --json              print the answer as JSON
  --help

Exit status: 0 passed and proven; 1 failed or not proven; 2 could not run; 4 undecidable, because a key is unknown.
`;
/** The longest time of a run, plus a margin for the network. */
const timeoutMs = 150_000;
const keysLimits = { bytesMax: 1_048_576, depthMax: 16 };
const tellEveryMs = 5_000;

/** A kernel, and its operator key. */
type NamedKernel = { url: string; apiKey: string };

/** `tell` receives progress for people, and nothing that a program reads. */
type Streams = { write(text: string): void; tell(text: string): void };

/**
 * Runs the whole command. `findHere` finds the kernel when none is named. Resolves to the exit status, and never
 * rejects.
 */
export async function runCommand(argv: string[], streams: Streams, findHere?: () => NamedKernel): Promise<number> {
  try {
    const options = readArguments(argv, findHere);
    if (options !== null) return await proveDeployment(options, streams);
    streams.write(usageText);
    return 0;
  } catch (error) {
    streams.tell(`${forTerminal(problemText(error))}\n`);
    return 2;
  }
}

async function proveDeployment(input: Input, { write, tell }: Streams): Promise<number> {
  const client = createKernelClient({ baseUrl: input.url, apiKey: input.apiKey, timeoutMs });
  const own = readVectors(nodeProvider);
  const pinned = input.keys === undefined ? null : parseKeySet(jsonOf(input.keys));
  const proof = await runAndCollect(client, input.scope, tell);
  if (input.out !== undefined) writeFileSync(input.out, `${JSON.stringify(proof)}\n`);
  const trust = pinned ?? (await servedKeys(client));
  const answer = conformanceAnswer(proof, { trust, provider: nodeProvider, vectorsHash: own.hash });
  if (pinned === null) tell('The deployment itself served the keys. Pass keys that you trust with --keys\n');
  write(input.json ? `${jsonForTerminal({ ...answer, failed: failedOf(proof) })}\n` : describeConformance(answer));
  if (!input.json)
    for (const { vector_id, detail } of failedOf(proof)) write(forTerminal(`  failed: ${vector_id}: ${detail}`) + '\n');
  return conformanceStatus(answer);
}

async function runAndCollect(client: KernelClient, scope: ConformanceScope, tell: Streams['tell']) {
  const system = client.as({ tenant: 'system' });
  const vectors = (await system.listConformanceVectors()).body.data;
  tell(`${vectors.length} vectors; a ${scope} run is in progress\n`);
  const startedMs = performance.now();
  const seconds = () => Math.round((performance.now() - startedMs) / 1_000);
  const timer = setInterval(() => tell(`  ${seconds()} s\n`), tellEveryMs);
  try {
    const signed = (await system.runConformance({ body: { scope } })).body;
    tell(`The run ended after ${seconds()} s. Reading the sealed results\n`);
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

type Input = NamedKernel & {
  scope: ConformanceScope;
  keys?: string | undefined;
  out?: string | undefined;
  json: boolean;
};

/** `null` when the help is requested. */
function readArguments(argv: string[], findHere?: () => NamedKernel): Input | null {
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
    throw new Error('pass the URL of a kernel, --key-file, and the scope full or short; see --help');
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

/** A user may pass the key itself instead of its file, so the error does not repeat it. */
function keyIn(file: string): string {
  try {
    return readFileSync(file, 'utf8').trim();
  } catch {
    throw new Error('--key-file (key= of make) must name a file that contains the key, and this file cannot be read');
  }
}
