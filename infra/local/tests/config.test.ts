import { describe, expect, it } from '@jest/globals';
import { describeVariables } from '@countersign/service-kit';
import { services } from '@countersign/services';
import { localSettings } from '../src/config.ts';
import { localServices } from '../src/local-services.ts';

describe.each(services)('the service $name', ({ name, ports }) => {
  it('listens by default on the port of its row in the register', () => {
    const variables = describeVariables(localServices[name].variables);
    const fallbacks = variables.filter((each) => each.name.endsWith('_PORT')).map(({ fallback }) => fallback);
    expect(fallbacks).toContain(String(ports.main));
  });
});

describe('the environment of `make up`', () => {
  it('gives each service only the variables that the service reads, also in their _FILE form', () => {
    const { passedOn } = localSettings({
      GOV_UPSTREAM_API_KEY_FILE: '/run/key',
      GOV_MODEL_PRICES: '{}',
      GOV_MODEL: 'large',
      GOV_LOG_LEVEL: 'info',
      UNRELATED: 'x',
    });
    expect(passedOn['governance-kernel']).toEqual({
      GOV_UPSTREAM_API_KEY_FILE: '/run/key',
      GOV_MODEL_PRICES: '{}',
      GOV_LOG_LEVEL: 'info',
    });
    expect(passedOn.gateway).toEqual({ GOV_MODEL: 'large', GOV_LOG_LEVEL: 'info' });
  });

  it.each([
    ['GOV_RUN_WORKRES', 'GOV_RUN_WORKERS'],
    ['GOV_POLICY_FIEL', 'GOV_POLICY_FILE'],
    // `make up` sets this variable from GATEWAY_PORT.
    ['GOV_GATEWAY_PORT', 'GATEWAY_PORT'],
  ])('with %s is refused, and %s is suggested', (input, meant) => {
    expect(() => localSettings({ [input]: '1' })).toThrow(`${input} is not a known variable; did you mean ${meant}?`);
  });

  it.each(['GOV_SIGNING_KEY', 'GOV_SESSION_SECRET_FILE'])(
    'with %s is refused, because `make up` sets that variable itself',
    (name) => {
      expect(() => localSettings({ [name]: 'x' })).toThrow(`${name} is not a known variable`);
    },
  );

  it('may contain the variables of local.env', () => {
    const loaded = { GATEWAY_URL: 'x', KERNEL_URL: 'x', AGENT_KEY: 'x', GOV_TRUSTED_PUBLIC_KEY: 'x' };
    expect(localSettings({ ...loaded, GOV_ADMIN_API_KEY: 'adm' })).toMatchObject({
      adminApiKey: 'adm',
      passedOn: { 'governance-kernel': {} },
    });
  });
});
