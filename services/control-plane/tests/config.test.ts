import { describe, expect, it } from '@jest/globals';
import { controlPlaneConfigFrom } from '../src/index.ts';

const env = {
  DATABASE_URL: 'postgres://localhost/countersign',
  GOV_GATEWAY_URL: 'http://gateway:3100',
  GOV_GOVERNANCE_URL: 'http://kernel:8080',
  GOV_SERVICE_API_KEY: 'service-key-of-a-test',
  GOV_SESSION_SECRET: 'a-secret-of-this-test',
};

describe('the configuration', () => {
  it('requires https for the console, except on localhost', () => {
    expect(controlPlaneConfigFrom({ ...env, GOV_CONSOLE_URL: 'https://countersign.example' }).isSecure).toBe(true);
    for (const local of ['http://localhost:3100', 'http://127.0.0.1:3100', 'http://[::1]:3100'])
      expect(controlPlaneConfigFrom({ ...env, GOV_CONSOLE_URL: local }).isSecure).toBe(false);
    expect(() => controlPlaneConfigFrom({ ...env, GOV_CONSOLE_URL: 'http://countersign.example' })).toThrow(
      'GOV_CONSOLE_URL must be https',
    );
  });

  it('refuses malformed gateway keys, and missing secrets and addresses', () => {
    expect(() => controlPlaneConfigFrom({ ...env, GOV_ASSERTION_KEYS: 'AAAA' })).toThrow(
      'GOV_ASSERTION_KEYS is malformed',
    );
    for (const name of [
      'GOV_SESSION_SECRET',
      'GOV_SERVICE_API_KEY',
      'GOV_GATEWAY_URL',
      'GOV_GOVERNANCE_URL',
      'DATABASE_URL',
    ])
      expect(() => controlPlaneConfigFrom({ ...env, [name]: undefined })).toThrow(name);
  });
});
