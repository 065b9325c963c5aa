import { describe, expect, it } from '@jest/globals';
import { z } from 'zod';
import { httpOptionsOf, readConfig, serviceConfigOf, serviceVariables } from '../src/index.ts';

const configOf = (env: Record<string, string>) =>
  serviceConfigOf(
    readConfig(z.object(serviceVariables), { DATABASE_URL: 'postgres://localhost/db', ...env }, { prefix: 'GOV_' }),
  );

describe('the configuration that all services share', () => {
  it('checks responses and writes readable logs, except in production', () => {
    const environments: Record<string, string>[] = [
      {},
      { NODE_ENV: 'development' },
      { NODE_ENV: 'test' },
      { NODE_ENV: 'production' },
    ];
    const configs = environments.map((env) => configOf(env));
    expect(configs.map(({ checksReplies }) => checksReplies)).toEqual([true, true, true, false]);
    expect(configs.map(({ log }) => log.layout)).toEqual(['readable', 'readable', 'readable', 'json']);
  });

  it('limits rates unless disabled, and keeps a silent log silent', () => {
    expect(httpOptionsOf(configOf({})).rateLimiter).not.toBeNull();
    expect(httpOptionsOf(configOf({ GOV_RATE_LIMITS: '0' })).rateLimiter).toBeNull();
    expect([configOf({}).log.silent, configOf({ GOV_LOG_LEVEL: 'silent' }).log.silent]).toEqual([false, true]);
  });

  it('uses the configured limit of each class, or the documented default', async () => {
    const limiter = httpOptionsOf(configOf({ GOV_RATE_LIMIT_AUTH: '1' })).rateLimiter;
    const answers = [
      await limiter?.take('a', 'auth'),
      await limiter?.take('a', 'auth'),
      await limiter?.take('a', 'page'),
    ];
    expect(answers.map((each) => each?.allowed)).toEqual([true, false, true]);
    expect(limiter?.classOf('auth')).toMatchObject({ failClosed: true });
    expect(limiter?.classOf('page')).toMatchObject({ limit: 120 });
  });

  it('has no broker unless one is configured', () => {
    expect(configOf({}).bus).toEqual({ amqpUrl: null, exchange: 'countersign' });
  });
});
