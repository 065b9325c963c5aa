import { createHash } from 'node:crypto';
import { canonical, type Json } from './strict-json.ts';

/** The allowed difference between clocks. */
export const minuteMs = 60_000;

/** SHA-256 of the concatenated contents. */
export function sha256(...contents: (string | Uint8Array)[]): Buffer {
  const hash = createHash('sha256');
  for (const content of contents) hash.update(content);
  return hash.digest();
}

/** 32 bytes as the text of a digest (1.4). */
export function digestText(bytes: Buffer): string {
  return `sha256:${bytes.toString('hex')}`;
}

/** The digest of the canonical JSON of a value. */
export function hashOf(value: Json | { [member: string]: Json | undefined }): string {
  return digestText(sha256(canonical(value as Json))); // canonical leaves out undefined members
}

/** Whether the value is a digest (1.4). */
export function isDigest(value: Json | undefined): value is string {
  return typeof value === 'string' && /^sha256:[0-9a-f]{64}$/.test(value);
}

/** Whether the value is an existing instant in the required format (1.5). */
export function isInstant(value: Json | undefined): value is string {
  if (typeof value !== 'string' || !/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/.test(value)) return false;
  const time = new Date(value);
  return !Number.isNaN(time.getTime()) && time.toISOString() === value;
}

/** The instant that is `ms` later. */
export function laterBy(instant: string, ms: number): string {
  return new Date(Date.parse(instant) + ms).toISOString();
}

/** The bytes of base64url in its only spelling (1.4), else `null`. */
export function fromBase64Url(text: Json | undefined): Buffer | null {
  return fromSpelling(text, 'base64url');
}

/** The bytes of padded base64 in its only spelling, else `null`. */
export function fromBase64(text: Json | undefined): Buffer | null {
  return fromSpelling(text, 'base64');
}

function fromSpelling(text: Json | undefined, encoding: 'base64' | 'base64url'): Buffer | null {
  if (typeof text !== 'string') return null;
  const bytes = Buffer.from(text, encoding);
  return bytes.toString(encoding) === text ? bytes : null;
}

const notShown = /[\p{C}\p{Zl}\p{Zp}\p{Default_Ignorable_Code_Point}\u2800]/gu;

/** Normalises a name, so that all spellings of the name are equal (1.8). */
export function folded(name: string): string {
  const shown = name.normalize('NFKC').replace(notShown, '');
  return shown.toLowerCase().toUpperCase().toLowerCase().normalize('NFKC');
}

/** The ULID of an id (1.6). */
export function ulidOf(id: string): string {
  return id.slice(id.indexOf('_') + 1);
}
