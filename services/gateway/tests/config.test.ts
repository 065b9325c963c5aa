import { describe, expect, it } from '@jest/globals';
import { gatewayConfigFrom } from '../src/index.ts';

const env = {
  NODE_ENV: 'development',
  DATABASE_URL: 'postgres://localhost/gateway',
  GOV_SESSION_SECRET: 'a-secret-of-this-test',
  GOV_ADMIN_API_KEY: 'admin',
  GOV_SERVICE_API_KEY: 'service',
  GOV_GOVERNANCE_URL: 'http://kernel:3200/',
};

describe('the configuration', () => {
  it('takes the address of the kernel without a path', () => {
    expect(gatewayConfigFrom(env).governance).toMatchObject({ url: 'http://kernel:3200' });
  });

  it.each(['GOV_ADMIN_API_KEY', 'GOV_SERVICE_API_KEY'])(
    'refuses a kernel that it could not speak to without %s',
    (name) => {
      expect(() => gatewayConfigFrom({ ...env, [name]: undefined })).toThrow(`${name} is missing`);
    },
  );

  it.each([
    ['GOV_GOVERNANCE_URL', 'https://example.org/kernel'],
    ['GOV_GOVERNANCE_URL', 'https://example.org/?tenant=a'],
    ['GOV_GOVERNANCE_URL', 'https://ada:secret@example.org'],
    ['GOV_HEALTH_URL', 'https://example.org/kernel'],
  ])('refuses %s=%s, of which only the origin would be used', (name, value) => {
    expect(() => gatewayConfigFrom({ ...env, [name]: value })).toThrow(name);
  });

  it.each(['GOV_RUN_LEASE', 'GOV_GOVERNANCE_TIMEOUT'])('refuses a %s too short for a healthy machine', (name) => {
    for (const value of ['0', '15', '499ms'])
      expect(() => gatewayConfigFrom({ ...env, [name]: value })).toThrow(
        `${name} is malformed: must be at least 500ms`,
      );
    gatewayConfigFrom({ ...env, [name]: '500ms' });
  });

  it('checks replies everywhere but in production', () => {
    const production = {
      ...env,
      NODE_ENV: 'production',
      GOV_SESSION_SECRET: 'b6f0c1d2'.repeat(8),
      GOV_ADMIN_API_KEY: 'a7e1d2c3'.repeat(8),
      GOV_SERVICE_API_KEY: 'c5d4e3f2'.repeat(8),
      GOV_SMTP_URL: 'smtp://mail.local',
      GOV_SIGN_UP: '@example.org',
    };
    const { NODE_ENV: _, ...unnamed } = env;
    const environments = [env, { ...env, NODE_ENV: 'test' }, unnamed, production];
    expect(environments.map((each) => gatewayConfigFrom(each).checksReplies)).toEqual([true, true, true, false]);
  });
});
