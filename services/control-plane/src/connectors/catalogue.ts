import { readFile } from 'node:fs/promises';
import { sha256Of, AppError, PlainObject, type Digest } from '@countersign/contracts';
import { ConnectorId } from '@countersign/contracts/control-plane';
import {
  canonicalBytes,
  concatBytes,
  decodeBase64Url,
  equalBytes,
  parsePlainJson,
  parseStrictJson,
  utf8Bytes,
  utf8Text,
} from '@countersign/crypto';
import { nodeProvider } from '@countersign/crypto/node';
import type { PublicKey } from '@countersign/service-kit';
import { z } from 'zod';

export const catalogueFormat = 'countersign.connector-catalogue.v1';

/** The catalogue file of an installation, and the keys that may sign it. */
export type CatalogueSource = { path: string; keys: readonly PublicKey[] };

const Header = z.looseObject({
  name: z.string().min(1).max(128),
  description: z.string().optional(),
  isRequired: z.boolean().default(false),
  isSecret: z.boolean().default(false),
});
const Remote = z.looseObject({
  type: z.string(),
  url: z.url({ protocol: /^https?$/ }).refine(hasNoCredentials, 'must have neither a user nor a query'),
  headers: z.array(Header).max(16).default([]),
});

/** Every member of a workspace reads the catalogue, so an address in it contains no secret. */
function hasNoCredentials(url: string): boolean {
  const { username, password, search } = new URL(url);
  return username === '' && password === '' && search === '';
}

/** The members of a server.json (schema 2025-12-11) that a connector uses. */
const ServerJson = z.looseObject({
  name: z.string(),
  version: z.string().min(1).max(255),
  remotes: z.array(Remote),
});

const entryMembers = {
  connector_id: ConnectorId,
  title: z.string().min(1).max(100),
  summary: z.string().min(1).max(500),
  server_json: PlainObject,
};

/** A catalogue entry before it is signed. It has no hash of its server.json. */
export const UnsignedConnector = z.strictObject(entryMembers);

const SignedCatalogue = z.strictObject({
  format: z.literal(catalogueFormat),
  connectors: z.array(z.strictObject({ ...entryMembers, server_json_hash: z.string() })).max(500),
});

export type CatalogueEntry = {
  connectorId: string;
  title: string;
  summary: string;
  version: string;
  url: string;
  headers: z.infer<typeof Header>[];
  serverJson: z.infer<typeof PlainObject>;
  serverJsonHash: Digest;
};

const bytesMax = 4_000_000;
const depthMax = 32;

/**
 * The verified entries, sorted by `connectorId`. Empty without a source. The file is read at each use, so that later
 * changes are noticed. Throws INTEGRITY_FAILED for a file that cannot be read, is malformed or too long, or is not
 * signed with one of the keys.
 */
export async function readCatalogue(source: CatalogueSource | null): Promise<CatalogueEntry[]> {
  if (source === null) return [];
  const { path, keys } = source;
  const [bytes, signature] = await Promise.all([readFile(path), readFile(`${path}.sig`, 'utf8')]).catch(
    (cause: unknown) => {
      throw refused('cannot be read', cause);
    },
  );
  return verifyCatalogue(bytes, { signature: signature.trim(), keys });
}

type Signed = { signature: string; keys: readonly PublicKey[] };

/** Verifies the bytes of a catalogue. Throws INTEGRITY_FAILED. */
export function verifyCatalogue(bytes: Uint8Array, { signature, keys }: Signed): CatalogueEntry[] {
  if (bytes.length > bytesMax) throw refused('is too long');
  const signed = signedBytes(bytes);
  const proof = signatureOf(signature);
  if (!keys.some(({ publicKey }) => nodeProvider.verifyEd25519(publicKey, signed, proof)))
    throw refused('is not signed by a pinned key');
  const entries = parsed(bytes).connectors.map((entry) => entryOf(entry));
  const names = new Set(entries.map(({ connectorId }) => connectorId));
  if (names.size !== entries.length) throw refused('names a connector twice');
  return entries.sort((left, right) => (left.connectorId < right.connectorId ? -1 : 1));
}

/** The bytes that are signed. Their prefix keeps a signature of a catalogue from verifying for anything else. */
export function signedBytes(catalogue: Uint8Array): Uint8Array {
  return concatBytes(utf8Bytes(`${catalogueFormat}\n`), catalogue);
}

function signatureOf(text: string): Uint8Array {
  try {
    return decodeBase64Url(text);
  } catch (cause) {
    throw refused('has a malformed signature', cause);
  }
}

function parsed(bytes: Uint8Array): z.infer<typeof SignedCatalogue> {
  try {
    const json = parsePlainJson(parseStrictJson(utf8Text(bytes), { depthMax, bytesMax }));
    if (!equalBytes(canonicalBytes(json), bytes)) throw new Error('It is not canonical JSON');
    return SignedCatalogue.parse(json);
  } catch (cause) {
    throw refused('is malformed', cause);
  }
}

type SignedEntry = z.infer<typeof SignedCatalogue>['connectors'][number];

function entryOf({ server_json_hash: stated, ...entry }: SignedEntry): CatalogueEntry {
  const { connector_id: connectorId, title, summary, server_json: serverJson } = entry;
  const serverJsonHash = serverJsonHashOf(serverJson);
  if (stated !== serverJsonHash) throw refused(`has a hash that does not match the server.json of ${connectorId}`);
  const { version, url, headers } = remoteOf(connectorId, serverJson);
  return { connectorId, title, summary, version, url, headers, serverJson, serverJsonHash };
}

export function serverJsonHashOf(serverJson: CatalogueEntry['serverJson']): Digest {
  return sha256Of(nodeProvider, canonicalBytes(serverJson));
}

/**
 * The version, address and headers of the server. A connector must be a remote server, since a package would run on
 * this machine. Throws INTEGRITY_FAILED.
 */
export function remoteOf(
  connectorId: string,
  serverJson: unknown,
): Pick<CatalogueEntry, 'version' | 'url' | 'headers'> {
  const read = ServerJson.safeParse(serverJson);
  const remote = read.data?.remotes.find(({ type }) => type === 'streamable-http');
  if (read.data === undefined || remote === undefined)
    throw refused(`has no server.json of a remote server over streamable HTTP for ${connectorId}`);
  return { version: read.data.version, url: remote.url, headers: remote.headers };
}

function refused(why: string, cause?: unknown): AppError {
  return new AppError('INTEGRITY_FAILED', `The catalogue of connectors ${why}, so it is not used`, { cause });
}
