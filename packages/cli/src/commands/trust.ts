import { readFileSync, renameSync, writeFileSync } from 'node:fs';
import { InvalidArgumentError, Option, type Command } from 'commander';
import { instantOf, Instant } from '@countersign/contracts';
import { KeyPurpose, listEvidenceKeys, SignedTrustList, TrustList } from '@countersign/contracts/governance-kernel';
import { decodeBase64Url, keyIdOf, publicKeyToJwk, type Signer } from '@countersign/crypto';
import { nodeProvider } from '@countersign/crypto/node';
import { verifyTrustList } from '@countersign/verifier';
import { CommandFailed } from '../command-failed.ts';
import type { Io } from '../io.ts';
import { listText, type Column, type Format } from '../output/format.ts';
import { publishTrust } from '../trust/publish-trust.ts';
import { signNext, withEvidence, withKey, withRevoked, type Key } from '../trust/next-list.ts';
import { makeKey, openRootKey, readRootKey, rootOf } from '../trust/root-key.ts';
import { outputOption } from './options.ts';

const columns: Column<Key>[] = [
  { title: 'KEY', of: ({ kid }) => kid },
  { title: 'SIGNS', of: ({ purpose }) => purpose },
  { title: 'FROM', of: ({ valid_from: at }) => at },
  { title: 'UNTIL', of: ({ valid_until: at }) => at },
  { title: 'REVOKED', of: ({ revoked_at: at }) => at },
  { title: 'LOG', of: ({ log_origin: origin }) => origin },
];

type Signing = { file: string; rootKey: string };
type NewKey = Signing & { purpose: KeyPurpose; logOrigin?: string; from?: Instant };

/**
 * Adds `countersign trust`. Only its commands use the private root key. All except `publish` work on a computer without
 * a network.
 */
export function addTrust(program: Command, io: Io): void {
  const trust = program.command('trust').description('Trusted keys in trust.json, signed by an offline root key.');
  trust
    .command('ls')
    .description('Verify a trust list with the root that you pinned, and list its keys.')
    .option('--file <path>', 'the trust list', 'trust.json')
    .requiredOption('--root <key>', 'the root key that you pinned')
    .addOption(outputOption())
    .action((options: { file: string; root: string; output: Format }) => list(options, io));
  signing(trust.command('init'))
    .description(
      'Sign version 1 of the list with the keys of an installation. Creates the root key if its file does not exist.',
    )
    .requiredOption('--keys <file>', 'the keys, as /api/v1/trust/keys serves them')
    .action((options: Signing & { keys: string }) => init(options, io));
  ofNewKey(trust.command('add'))
    .description('Sign the next version with a new key, which ends the earlier keys of the same purpose.')
    .argument('<public_key>', 'Ed25519, base64url')
    .action((publicKey: string, options: NewKey) => add(bytesOf(publicKey), options, io));
  ofNewKey(trust.command('rotate'))
    .description('Make a new key and sign the next version with it.')
    .requiredOption('--new-key <file>', 'write the new private key to this new file, as PEM')
    .action((options: NewKey & { newKey: string }) => rotate(options, io));
  signing(trust.command('add-evidence'))
    .description(
      'Sign the next version with the evidence keys of an installation, which ends its earlier evidence keys.',
    )
    .argument('<file>', 'the keys, as /api/v1/trust/evidence-keys serves them')
    .action((keys: string, options: Signing) => addEvidence(keys, options, io));
  signing(trust.command('revoke'))
    .description(
      'Sign the next version with a revocation. Statements that the key signed later, or that no earlier checkpoint contains, are no longer valid.',
    )
    .argument('<key_id>')
    .addOption(instantOption('--at <instant>', 'the start of the revocation (default: now)'))
    .action((keyId: string, options: Signing & { at?: Instant }) => revoke(keyId, options, io));
  trust
    .command('publish')
    .description('Send the list to a kernel, with the key of its operators in COUNTERSIGN_ADMIN_KEY.')
    .option('--file <path>', 'the trust list', 'trust.json')
    .option('--kernel <url>', 'the address of the kernel', 'http://127.0.0.1:8080')
    .action((options: { file: string; kernel: string }) => publishTrust(readList(options.file), options.kernel, io));
}

function list({ file, root, output }: { file: string; root: string; output: Format }, io: Io): void {
  const { list: verified } = opened(() => verifyTrustList(readList(file), { root, provider: nodeProvider }));
  io.tell(`version ${verified.version}, signed at ${verified.issued_at}\n`);
  io.write(listText({ items: verified.keys, columns, format: output }));
}

function init({ file, rootKey, keys }: Signing & { keys: string }, io: Io): void {
  const read = TrustList.shape.keys.safeParse((readJson(keys) as { keys?: unknown } | null)?.keys);
  if (!read.success)
    throw new CommandFailed(`${keys} is not a key set. Save the response of /api/v1/trust/keys and pass that file`, 2);
  const signer = openRootKey(rootKey);
  write(file, signNext(null, read.data, { signer, now: new Date() }), 'wx');
  io.tell(`version 1: ${file}\n`);
  io.write(`${rootOf(signer)}\n`);
}

function add(publicKey: Uint8Array, { file, rootKey, purpose, logOrigin, from }: NewKey, io: Io): void {
  const now = new Date();
  const key: Key = {
    ...publicKeyToJwk(publicKey),
    ...{ kid: keyIdOf(nodeProvider, publicKey), use: 'sig', alg: 'EdDSA', purpose },
    ...{ log_origin: logOrigin ?? null, valid_from: from ?? instantOf(now) },
    ...{ valid_until: null, revoked_at: null },
  };
  const previous = readList(file);
  replace(file, signNext(previous, withKey(previous.list.keys, key), { signer: readRootKey(rootKey), now }), io);
  io.write(`${key.kid}\n`);
}

function addEvidence(keys: string, { file, rootKey }: Signing, io: Io): void {
  const read = listEvidenceKeys.reply.safeParse(readJson(keys));
  if (!read.success)
    throw new CommandFailed(
      `${keys} has no evidence keys. Save the response of /api/v1/trust/evidence-keys and pass that file`,
      2,
    );
  const previous = readList(file);
  const now = new Date();
  const next = withEvidence(previous.list.keys, read.data.keys, instantOf(now));
  const added = next.slice(previous.list.keys.length);
  if (added.length === 0) throw new CommandFailed(`The list already has each key of ${keys}`, 1);
  replace(file, signNext(previous, next, { signer: readRootKey(rootKey), now }), io);
  for (const { kid } of added) io.write(`${kid}\n`);
}

function rotate({ newKey, ...options }: NewKey & { newKey: string }, io: Io): void {
  readRootKey(options.rootKey);
  readList(options.file);
  add(makeKey(newKey).publicKey, options, io);
}

function revoke(keyId: string, { file, rootKey, at }: Signing & { at?: Instant }, io: Io): void {
  const previous = readList(file);
  const now = new Date();
  const keys = withRevoked(previous.list.keys, keyId, at ?? instantOf(now));
  replace(file, signNext(previous, keys, { signer: readRootKey(rootKey) satisfies Signer, now }), io);
}

/** Replaces the list atomically. */
function replace(file: string, signed: SignedTrustList, io: Io): void {
  const partial = `${file}.${process.pid}`;
  write(partial, signed, 'w');
  renameSync(partial, file);
  io.tell(`version ${signed.list.version}: ${file}\n`);
}

function write(file: string, signed: SignedTrustList, flag: 'w' | 'wx'): void {
  try {
    writeFileSync(file, `${JSON.stringify(signed, null, 2)}\n`, { flag });
  } catch (cause) {
    throw new CommandFailed(`${file} cannot be written as a new file`, 2, { cause });
  }
}

function readList(file: string): SignedTrustList {
  const read = SignedTrustList.safeParse(readJson(file));
  if (!read.success) throw new CommandFailed(`${file} is not a trust list`, 2);
  return read.data;
}

function readJson(file: string): unknown {
  try {
    return JSON.parse(readFileSync(file, 'utf8')) as unknown;
  } catch (cause) {
    throw new CommandFailed(`${file} cannot be read as JSON`, 2, { cause });
  }
}

function opened<Value>(read: () => Value): Value {
  try {
    return read();
  } catch (cause) {
    throw new CommandFailed(cause instanceof Error ? cause.message : 'The list does not verify', 1, { cause });
  }
}

function bytesOf(text: string): Uint8Array {
  try {
    return decodeBase64Url(text);
  } catch (cause) {
    throw new CommandFailed('A public key is 32 bytes in base64url', 2, { cause });
  }
}

function signing(command: Command): Command {
  return command
    .option('--file <path>', 'the trust list', 'trust.json')
    .requiredOption('--root-key <file>', 'the offline root key: Ed25519, PKCS#8 PEM');
}

function ofNewKey(command: Command): Command {
  return signing(command)
    .addOption(new Option('--purpose <purpose>', 'what it signs').choices(KeyPurpose.options).makeOptionMandatory())
    .option('--log-origin <line>', 'for a log key: the origin line of its log')
    .addOption(
      instantOption('--from <instant>', 'the start of the new key (default: now). The earlier key ends 80 s later'),
    );
}

function instantOption(flags: string, says: string): Option {
  return new Option(flags, says).argParser((text) => {
    const instant = Instant.safeParse(text);
    if (!instant.success) throw new InvalidArgumentError('An instant is written as 2026-11-01T00:00:00.000Z.');
    return instant.data;
  });
}
