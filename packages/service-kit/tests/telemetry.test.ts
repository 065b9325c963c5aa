import { describe, expect, it } from '@jest/globals';
import { openTelemetry, readConfig, serviceConfigOf, serviceVariables } from '../src/index.ts';
import { z } from 'zod';

const about = { service: 'tested', version: '1' };

const configOf = (variables: Record<string, string>) =>
  serviceConfigOf(
    readConfig(z.object(serviceVariables), { DATABASE_URL: 'postgres://h/d', ...variables }, { prefix: 'GOV_' }),
  );

describe('gauges', () => {
  it('that fail or hang do not stop the others', async () => {
    const telemetry = await openTelemetry(null, about);
    telemetry.meter.gauge({ name: 'broken', help: 'x' }, () => Promise.reject(new Error('away')));
    telemetry.meter.gauge({ name: 'thrown', help: 'x' }, () => {
      throw new Error('away');
    });
    telemetry.meter.gauge({ name: 'hanging', help: 'x' }, () => new Promise(() => undefined));
    telemetry.meter.gauge({ name: 'known', help: 'x' }, () => 7);
    const text = await telemetry.prometheus();
    expect(text).toMatch(/^known 7$/m);
    expect(text).not.toMatch(/^(broken|thrown|hanging) \d/m);
    await telemetry.close();
  });
});

describe('the collector of the configuration', () => {
  it('is null without an address, and has the configured headers', () => {
    expect(configOf({}).collector).toBeNull();
    const variables = {
      OTEL_EXPORTER_OTLP_ENDPOINT: 'https://collector.example:4318/otlp',
      OTEL_EXPORTER_OTLP_HEADERS: 'authorization=Bearer%20abc,x-team=a',
    };
    expect(configOf(variables).collector).toEqual({
      url: 'https://collector.example:4318/otlp',
      headers: { authorization: 'Bearer abc', 'x-team': 'a' },
    });
  });

  it.each(['nonsense', 'a=%zz', 'a b=c', 'a=%0d%0ax'])(
    'is refused with the headers %j, without repeating them',
    (headers) => {
      const read = () => configOf({ OTEL_EXPORTER_OTLP_HEADERS: headers });
      expect(read).toThrow(/OTEL_EXPORTER_OTLP_HEADERS is malformed/);
      expect(read).not.toThrow(headers);
    },
  );
});
