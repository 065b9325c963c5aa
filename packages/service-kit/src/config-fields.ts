import { z } from 'zod';
import { parseHeaders } from './telemetry/collector.ts';

/**
 * The metadata of a secret variable. The variable may also be set as `<NAME>_FILE`, and is never printed. In production
 * it must be strong, unless `lengthMin` is 0.
 */
type SecretMeta = { secret: true; lengthMin: number; type?: string };

/** 256 bits are 64 characters in hex and 43 in base64. A shorter secret was probably typed by a person. */
const secretLengthMin = 32;

/** `0` or `1`. */
export function flag(fallback: boolean) {
  return z
    .enum(['0', '1'], 'must be 0 or 1')
    .default(fallback ? '1' : '0')
    .transform((value) => value === '1')
    .meta({ type: '`0` or `1`' });
}

/** TCP port; 0 asks the system for a free one. */
export function port(fallback: number) {
  return portNumber().default(fallback).meta({ type: 'port' });
}

/** A TCP port of a feature that is off without it. */
export function optionalPort() {
  return portNumber().optional().meta({ type: 'port' });
}

function portNumber() {
  return z
    .string()
    .regex(/^\d{1,5}$/, 'must be a port number')
    .transform(Number)
    .refine((value) => value <= 65_535, 'must be a port number');
}

/** Whole number between two bounds, both included. */
export function integer(bounds: { min: number; max: number; fallback: number }) {
  return z
    .string()
    .regex(/^-?\d{1,15}$/, 'must be a whole number')
    .transform(Number)
    .refine((value) => value >= bounds.min && value <= bounds.max, `must be between ${bounds.min} and ${bounds.max}`)
    .default(bounds.fallback)
    .meta({ type: `whole number, ${bounds.min} to ${bounds.max}` });
}

const unitMs: Record<string, number> = { ms: 1, s: 1_000, m: 60_000, h: 3_600_000, d: 86_400_000 };

/**
 * Duration such as `250ms`, `30s`, `15m`, `24h`, `7d`, or plain milliseconds. The value is in milliseconds. A minimum
 * detects `15` that was meant as 15 seconds.
 */
export function durationMs(fallbackMs: number, { minMs = 0 }: { minMs?: number } = {}) {
  return z
    .string()
    .regex(/^\d{1,12}(ms|s|m|h|d)?$/, 'must be a duration such as 500ms, 30s, 15m, 24h or 7d')
    .transform(parseDuration)
    .refine((value) => value >= minMs, `must be at least ${minMs}ms; a number without a unit is in milliseconds`)
    .default(fallbackMs)
    .meta({
      type: minMs === 0 ? 'duration' : `duration, at least ${durationText(minMs)}`,
      fallback: durationText(fallbackMs),
    });
}

function parseDuration(text: string): number {
  const unit = text.replace(/^\d+/, '') || 'ms';
  return Number.parseInt(text, 10) * (unitMs[unit] ?? 1);
}

/** The duration in the largest unit that divides it. */
function durationText(ms: number): string {
  const unit = ['d', 'h', 'm', 's'].find((each) => ms > 0 && ms % (unitMs[each] ?? 1) === 0) ?? 'ms';
  return `${ms / (unitMs[unit] ?? 1)}${unit}`;
}

/** Absolute URL of one of the schemes (default http and https), without trailing slash. */
export function url(schemes: readonly string[] = ['http', 'https']) {
  return z
    .string()
    .refine((value) => hasScheme(value, schemes), `must be a URL with scheme ${schemes.join(' or ')}`)
    .transform((value) => value.replace(/\/$/, ''))
    .meta({ type: urlType(schemes) });
}

/** Comma-separated list; empty items are dropped. */
export function list() {
  return z
    .string()
    .default('')
    .transform((value) =>
      value
        .split(',')
        .map((item) => item.trim())
        .filter((item) => item !== ''),
    )
    .meta({ type: 'list, comma-separated' });
}

/**
 * A secret string. In production `readConfig` refuses placeholders and anything shorter than `lengthMin` (default 32).
 */
export function secret(options: { lengthMin?: number } = {}) {
  const meta: SecretMeta = { secret: true, lengthMin: options.lengthMin ?? secretLengthMin };
  return z.string().min(1).meta(meta);
}

/**
 * A URL with a credential (database, broker, mail). It is secret, and the other system is responsible for its
 * strength.
 */
export function secretUrl(schemes: readonly string[]) {
  const meta: SecretMeta = { secret: true, lengthMin: 0, type: urlType(schemes) };
  return z
    .string()
    .refine((value) => hasScheme(value, schemes), `must be a URL with scheme ${schemes.join(' or ')}`)
    .meta(meta);
}

/** `name=value,name=value` with credentials of another system. */
export function secretHeaders() {
  const meta: SecretMeta = { secret: true, lengthMin: 0, type: '`name=value,…`' };
  return z
    .string()
    .refine((value) => parseHeaders(value) !== null, 'must be name=value, comma-separated, values percent-encoded')
    .meta(meta);
}

function urlType(schemes: readonly string[]): string {
  return `URL (${schemes.join(', ')})`;
}

function hasScheme(value: string, schemes: readonly string[]): boolean {
  return URL.canParse(value) && schemes.includes(new URL(value).protocol.slice(0, -1));
}
