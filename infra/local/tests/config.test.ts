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

describe('what `make up` takes from the environment', () => {
  it('hands each service what that service knows, as a file too', () => {
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
    // It would be overruled by GATEWAY_PORT.
    ['GOV_GATEWAY_PORT', 'GATEWAY_PORT'],
  ])('refuses %s and names %s', (given, meant) => {
    expect(() => localSettings({ [given]: '1' })).toThrow(`${given} is not a known variable; did you mean ${meant}?`);
  });

  it.each(['GOV_SIGNING_KEY', 'GOV_SESSION_SECRET_FILE'])('refuses %s, which it makes itself', (name) => {
    expect(() => localSettings({ [name]: 'x' })).toThrow(`${name} is not a known variable`);
  });

  it('takes back what it wrote into local.env', () => {
    const loaded = { GATEWAY_URL: 'x', KERNEL_URL: 'x', AGENT_KEY: 'x', GOV_TRUSTED_PUBLIC_KEY: 'x' };
    expect(localSettings({ ...loaded, GOV_ADMIN_API_KEY: 'adm' })).toMatchObject({
      adminApiKey: 'adm',
      passedOn: { 'governance-kernel': {} },
    });
  });
});
