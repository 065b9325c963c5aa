import { chmodSync, chownSync, mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it } from '@jest/globals';
import { z } from 'zod';
import { ConfigError, durationMs, flag, list, port, readConfig, secret, secretUrl, url } from '../src/index.ts';

const schema = z.object({
  GOV_PORT: port(8080),
  GOV_FAIL_CLOSED: flag(true),
  GOV_TTL: durationMs(60_000),
  GOV_LEASE: durationMs(15_000, { minMs: 500 }),
  GOV_UPSTREAM_URL: url().optional(),
  GOV_ORIGINS: list(),
  GOV_ADMIN_API_KEY: secret(),
  GOV_SECOND_KEY: secret().optional(),
  DATABASE_URL: secretUrl(['postgres']),
});
const strong = 'b7d1f0c96c1a4f7e8a0d5e2b9c3f6a71';
const sound = { GOV_ADMIN_API_KEY: strong, DATABASE_URL: 'postgres://u:pw@localhost/db' };

const read = (env: Record<string, string>) =>
  readConfig(schema, env, { prefix: 'GOV_', knownElsewhere: ['GOV_SIBLING'] });

function problemsOf(env: Record<string, string>): readonly string[] {
  try {
    read(env);
    return [];
  } catch (error) {
    if (error instanceof ConfigError) return error.problems;
    throw error;
  }
}

function secretFile(text: string): string {
  const path = join(mkdtempSync(join(tmpdir(), 'config-')), 'secret');
  writeFileSync(path, text);
  return path;
}

describe('readConfig', () => {
  it('returns typed, frozen values with documented defaults', () => {
    const config = read({
      ...sound,
      GOV_TTL: '15m',
      GOV_ORIGINS: 'https://a.example, https://b.example',
      GOV_UPSTREAM_URL: '',
    });
    expect(config).toMatchObject({ GOV_PORT: 8080, GOV_FAIL_CLOSED: true, GOV_TTL: 900_000 });
    expect(config.GOV_ORIGINS).toEqual(['https://a.example', 'https://b.example']);
    expect(config.GOV_UPSTREAM_URL).toBeUndefined();
    expect(Object.isFrozen(config)).toBe(true);
  });

  it.each(['0', '15', '499ms'])('refuses %s when at least half a second is required', (GOV_LEASE) => {
    expect(problemsOf({ ...sound, GOV_LEASE })).toEqual([
      'GOV_LEASE is malformed: must be at least 500ms; a number without a unit is in milliseconds',
    ]);
    expect(read({ ...sound, GOV_LEASE: '500' }).GOV_LEASE).toBe(500);
  });

  it('reports all missing, malformed and unknown variables together', () => {
    const problems = problemsOf({
      GOV_PORT: '99999',
      GOV_FAIL_CLOSED: 'yes',
      GOV_FIAL_CLOSED: '1',
      GOV_SIBLING: 'x',
      DATABASE_URL: 'mysql://x',
    });
    expect(problems).toEqual([
      'GOV_FIAL_CLOSED is not a known variable; did you mean GOV_FAIL_CLOSED?',
      'GOV_PORT is malformed: must be a port number',
      'GOV_FAIL_CLOSED is malformed: must be 0 or 1',
      'GOV_ADMIN_API_KEY is missing',
      'DATABASE_URL is malformed: must be a URL with scheme postgres',
    ]);
  });

  it.each([
    ['GOV_ADMIN_APIKEY_FILE', '; did you mean GOV_ADMIN_API_KEY_FILE?'],
    ['GOV_SIBILNG', '; did you mean GOV_SIBLING?'],
    ['GOV_FROBNICATE_ALL_THINGS', '; docs/reference/configuration.md lists the known ones'],
  ])('suggests the nearest name for %s, or the reference when none is near', (name, message) => {
    expect(problemsOf({ ...sound, [name]: 'x' })).toEqual([`${name} is not a known variable${message}`]);
  });

  it('reads a secret from its file, and refuses both forms or an unreadable file', () => {
    const { GOV_ADMIN_API_KEY: _, ...rest } = sound;
    expect(read({ ...rest, GOV_ADMIN_API_KEY_FILE: secretFile(`${strong}\n`) }).GOV_ADMIN_API_KEY).toBe(strong);
    expect(read({ ...sound, GOV_SECOND_KEY_FILE: secretFile('second') }).GOV_SECOND_KEY).toBe('second');
    expect(problemsOf({ ...sound, GOV_ADMIN_API_KEY_FILE: secretFile('x') })).toEqual([
      'GOV_ADMIN_API_KEY and GOV_ADMIN_API_KEY_FILE are both set; keep one',
    ]);
    expect(problemsOf({ ...sound, GOV_SECOND_KEY_FILE: '/does/not/exist' })).toEqual([
      'GOV_SECOND_KEY_FILE names a file that cannot be read',
    ]);
  });

  it('refuses in production a file that others can read, but accepts a group-readable file of another owner', () => {
    const { GOV_ADMIN_API_KEY: _, ...rest } = sound;
    const file = secretFile(strong);
    const problems = (mode: number, NODE_ENV = 'production') => {
      chmodSync(file, mode);
      return problemsOf({ ...rest, NODE_ENV, GOV_ADMIN_API_KEY_FILE: file });
    };
    const refused = [
      'GOV_ADMIN_API_KEY_FILE names a file that others can read, which production refuses; give it mode 0400',
    ];
    expect([0o400, 0o600].map((mode) => problems(mode))).toEqual([[], []]);
    expect([0o404, 0o440, 0o640, 0o604].map((mode) => problems(mode))).toEqual(Array(4).fill(refused));
    expect(problems(0o644, 'development')).toEqual([]);
    if (process.getuid?.() !== 0) return; // only root can change the owner of a file
    chownSync(file, 1, 1);
    expect([problems(0o440), problems(0o444)]).toEqual([[], refused]);
  });

  it('removes the secrets from the environment of the process, and leaves other variables', () => {
    const before = process.env;
    process.env = { ...before };
    try {
      Object.assign(process.env, sound);
      expect(read(process.env as Record<string, string>).GOV_ADMIN_API_KEY).toBe(strong);
      expect([process.env['GOV_ADMIN_API_KEY'], process.env['DATABASE_URL']]).toEqual([undefined, undefined]);
      expect(process.env['PATH']).toBe(before['PATH']);
    } finally {
      process.env = before;
    }
    const own = { ...sound };
    read(own);
    expect(own).toEqual(sound);
  });

  it('refuses placeholders and short secrets in production, and prints no value', () => {
    const env = {
      ...sound,
      NODE_ENV: 'production',
      GOV_SECOND_KEY: 'tooshort-9f2c',
      GOV_ADMIN_API_KEY: 'changeme-changeme-changeme-changeme',
    };
    const problems = problemsOf(env);
    expect(problems).toEqual([
      'GOV_ADMIN_API_KEY contains a placeholder, which production refuses; set a secret value',
      'GOV_SECOND_KEY must have at least 32 characters in production',
    ]);
    expect(problemsOf({ ...env, NODE_ENV: 'development' })).toEqual([]);
    expect(problemsOf({ ...sound, NODE_ENV: 'production' })).toEqual([]);
  });
});
