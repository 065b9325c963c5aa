import { generateKeyPairSync } from 'node:crypto';
import { describe, expect, it } from '@jest/globals';
import { generateSigningKey } from '@countersign/crypto/signing';
import { gatewayConfigFrom } from '../src/index.ts';

const env = {
  NODE_ENV: 'development',
  DATABASE_URL: 'postgres://localhost/gateway',
  GOV_SESSION_SECRET: 'a-secret-of-this-test',
  GOV_SERVICE_API_KEY: 'service',
  GOV_ASSERTION_KEY: generateSigningKey().privateKeyPem,
  GOV_GOVERNANCE_URL: 'http://kernel:3200/',
};

const production = {
  ...env,
  NODE_ENV: 'production',
  GOV_SESSION_SECRET: 'b6f0c1d2'.repeat(8),
  GOV_SERVICE_API_KEY: 'c5d4e3f2'.repeat(8),
  GOV_SMTP_URL: 'smtp://mail.local',
  GOV_SIGN_UP: '@example.org',
};

describe('the configuration', () => {
  it('accepts the address of the kernel only without a path', () => {
    expect(gatewayConfigFrom(env).governance).toMatchObject({ url: 'http://kernel:3200' });
  });

  it.each(['GOV_ASSERTION_KEY', 'GOV_SERVICE_API_KEY'])('refuses the address of each service without %s', (name) => {
    const { GOV_GOVERNANCE_URL: url, ...rest } = env;
    for (const service of ['GOV_GOVERNANCE_URL', 'GOV_CONTROL_PLANE_URL', 'GOV_COMMERCIAL_URL'])
      expect(() => gatewayConfigFrom({ ...rest, [service]: url, [name]: undefined })).toThrow(
        `${name} is missing: the service at ${service} requires it`,
      );
  });

  it('contains no operator key', () => {
    expect(() => gatewayConfigFrom({ ...env, GOV_ADMIN_API_KEY: 'admin' })).toThrow(
      'GOV_ADMIN_API_KEY is not a known variable',
    );
  });

  it('accepts only an Ed25519 key for assertions, and never prints it', () => {
    const { privateKey } = generateKeyPairSync('rsa', { modulusLength: 2_048 });
    const rsa = privateKey.export({ format: 'pem', type: 'pkcs8' }).toString();
    for (const second of [rsa, 'no key at all'])
      expect(() => gatewayConfigFrom({ ...env, GOV_ASSERTION_KEY: second })).toThrow(
        'GOV_ASSERTION_KEY is malformed: it must be an Ed25519 private key, as PKCS#8 PEM',
      );
  });

  it.each([
    ['GOV_GOVERNANCE_URL', 'https://example.org/kernel'],
    ['GOV_GOVERNANCE_URL', 'https://example.org/?tenant=a'],
    ['GOV_GOVERNANCE_URL', 'https://ada:secret@example.org'],
    ['GOV_HEALTH_URL', 'https://example.org/kernel'],
    ['GOV_COMMERCIAL_URL', 'https://example.org/commercial'],
  ])('refuses %s=%s, because only its origin would be used', (name, value) => {
    expect(() => gatewayConfigFrom({ ...env, [name]: value })).toThrow(name);
  });

  it.each(['GOV_RUN_LEASE', 'GOV_GOVERNANCE_TIMEOUT'])('refuses a %s below 500 ms', (name) => {
    for (const value of ['0', '15', '499ms'])
      expect(() => gatewayConfigFrom({ ...env, [name]: value })).toThrow(
        `${name} is malformed: must be at least 500ms`,
      );
    gatewayConfigFrom({ ...env, [name]: '500ms' });
  });

  it('requires the allowed sign-ups in production, and validates each entry everywhere', () => {
    const { GOV_SIGN_UP: _, ...unsaid } = production;
    for (const open of [unsaid, { ...unsaid, GOV_SIGN_UP: '' }, { ...unsaid, GOV_SIGN_UP: ' , ' }])
      expect(() => gatewayConfigFrom(open)).toThrow('GOV_SIGN_UP');
    expect(gatewayConfigFrom(production).signUp).toEqual(['@example.org']);
    expect(gatewayConfigFrom({ ...production, GOV_SIGN_UP: '*' }).signUp).toEqual(['*']);
    expect(gatewayConfigFrom(env).signUp).toEqual(['*']);
    for (const entry of ['example.org', '@example.org/', 'telegram:ada'])
      expect(() => gatewayConfigFrom({ ...env, GOV_SIGN_UP: `@example.org,${entry}` })).toThrow(`"${entry}"`);
  });

  it('shows no sign-in codes behind a proxy or to another machine', () => {
    for (const reached of [{ GOV_TRUSTED_PROXIES: '1' }, { GOV_GATEWAY_HOST: '0.0.0.0' }]) {
      const [name = ''] = Object.keys(reached);
      expect(() => gatewayConfigFrom({ ...env, ...reached })).toThrow(name);
      const mailed = { ...env, ...reached, GOV_SMTP_URL: 'smtp://mail.local' };
      expect(gatewayConfigFrom(mailed).revealsCodes).toBe(false);
    }
    expect(gatewayConfigFrom(env).revealsCodes).toBe(true);
    expect(gatewayConfigFrom(production).revealsCodes).toBe(false);
  });

  it('validates replies everywhere except in production', () => {
    const { NODE_ENV: _, ...unnamed } = env;
    const environments = [env, { ...env, NODE_ENV: 'test' }, unnamed, production];
    expect(environments.map((each) => gatewayConfigFrom(each).checksReplies)).toEqual([true, true, true, false]);
  });
});
