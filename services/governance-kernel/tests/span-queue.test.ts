import { describe, expect, it } from '@jest/globals';
import { messageSpans, openTelemetry } from '@countersign/service-kit';
import { startOtlpCollector } from '@countersign/testkit/otlp-collector';

const about = { service: 'tested', version: '1' };

describe('spans', () => {
  it('are dropped and counted when the queue is full', async () => {
    const collector = await startOtlpCollector();
    collector.become('hangs');
    const telemetry = await openTelemetry({ url: collector.url, headers: {} }, about);
    for (let made = 0; made < 10_000; made += 1) telemetry.tracer?.start('one of many', { kind: 'internal' }).end();
    const dropped = /otel_sdk_processor_span_processed_total\{[^}]*error_type="queue_full"[^}]*\} (\d+)/;
    expect(Number(dropped.exec(await telemetry.prometheus())?.[1])).toBeGreaterThan(5_000);
    await telemetry.close();
    await collector.close();
  });

  it('are sent below the path of the collector, and do not stay current after their work', async () => {
    const collector = await startOtlpCollector();
    const telemetry = await openTelemetry({ url: `${collector.url}/base/`, headers: {} }, about);
    const { tracer } = telemetry;
    if (tracer === null) throw new Error('A collector is configured');
    const work = (name: string) =>
      tracer.run(name, { kind: 'internal', parent: null }, async () => {
        await new Promise((resolve) => setImmediate(resolve));
        tracer.start(`${name} inside`, { kind: 'internal' }).end();
      });
    await Promise.all([work('one'), work('two')]);
    await expect(
      tracer.run('three', { kind: 'internal', fields: { long: 'x'.repeat(2_000) } }, async () => {
        throw new TypeError('what a caller sent');
      }),
    ).rejects.toThrow('what a caller sent');
    expect([tracer.traceparent(), messageSpans(tracer).send('a.b.v1')]).toEqual([null, undefined]);
    await telemetry.close();
    expect(new Set(collector.requests.map(({ path }) => path))).toEqual(
      new Set(['/base/v1/traces', '/base/v1/metrics']),
    );
    await collector.close();
  });

  it('contain no error messages, and truncate long texts', async () => {
    const collector = await startOtlpCollector();
    const telemetry = await openTelemetry({ url: collector.url, headers: {} }, about);
    await telemetry.tracer
      ?.run('failing', { kind: 'internal', fields: { long: 'x'.repeat(2_000) } }, async () => {
        throw new TypeError('what a caller sent');
      })
      .catch(() => undefined);
    await telemetry.close();
    const [span] = collector.spans();
    expect(span).toMatchObject({ name: 'failing', status: 2, fields: { 'error.type': 'TypeError' } });
    expect(String(span?.fields['long'])).toHaveLength(512);
    expect(collector.received().toString()).not.toContain('what a caller sent');
    await collector.close();
  });
});
