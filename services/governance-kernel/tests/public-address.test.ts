import { generateSigningKey } from '@countersign/crypto/signing';
import { expect, it } from '@jest/globals';
import { kernelConfigFrom } from '../src/config.ts';

const strong = (nth: number) => `k${nth}-${'9f2c7a1e'.repeat(5)}`;
const pem = () => generateSigningKey().privateKeyPem;
const unnamed = {
  NODE_ENV: 'production',
  DATABASE_URL: 'postgres://kernel:secret@database/countersign',
  GOV_ADMIN_API_KEY: strong(1),
  GOV_SERVICE_API_KEY: strong(2),
  GOV_TENANT_SALT_SECRET: strong(3),
  ...{ GOV_SIGNING_KEY: pem(), GOV_POLICY_KEY: pem(), GOV_LOG_KEY: pem() },
};
const production = { ...unnamed, GOV_LOG_ORIGIN: 'example.org/log' };

it('a kernel requires the name of its log in production, and has a default in development', () => {
  expect(() => kernelConfigFrom(unnamed)).toThrow(
    'GOV_LOG_ORIGIN is missing: choose the name of the log once, such as example.org/log; an installation that ran without it keeps countersign.local/log',
  );
  expect(() => kernelConfigFrom({ ...unnamed, GOV_LOG_ORIGIN: '' })).toThrow('GOV_LOG_ORIGIN is missing');
  expect(kernelConfigFrom(production).logOrigin).toBe('example.org/log');
  expect(kernelConfigFrom({ ...unnamed, NODE_ENV: 'development' }).logOrigin).toBe('countersign.local/log');
});

it.each(['0.0.0.0', '::'])('a kernel in production that listens on %s requires its public URL', (host) => {
  const everywhere = { ...production, GOV_BIND_ADDR: host };
  expect(() => kernelConfigFrom(everywhere)).toThrow(
    'GOV_PUBLIC_URL is missing: set the address at which agents and people reach',
  );
  const named = { ...everywhere, GOV_PUBLIC_URL: 'https://kernel.example.org' };
  expect(kernelConfigFrom(named).publicUrl).toBe('https://kernel.example.org');
});

it('a kernel on a specific address, or in development, uses that address as its public URL', () => {
  expect(kernelConfigFrom({ ...production, GOV_BIND_ADDR: '10.0.0.7' }).publicUrl).toBe('http://10.0.0.7:8080');
  const development = { ...production, NODE_ENV: 'development', GOV_BIND_ADDR: '0.0.0.0' };
  expect(kernelConfigFrom(development).publicUrl).toBe('http://0.0.0.0:8080');
});
