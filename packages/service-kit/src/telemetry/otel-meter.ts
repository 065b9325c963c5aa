import { ValueType, type Meter as OtelMeter } from '@opentelemetry/api';
import type { Instrument, Meter } from './meter.ts';

export function otelMeter(meter: OtelMeter): Meter {
  return {
    counter: (instrument) => {
      const counter = meter.createCounter(instrument.name, described(instrument));
      return (labels, by = 1) => counter.add(by, labels);
    },
    histogram: ({ bounds, ...instrument }) => {
      const advice = { explicitBucketBoundaries: [...bounds] };
      const histogram = meter.createHistogram(instrument.name, { ...described(instrument), advice });
      return (value, labels) => histogram.record(value, labels);
    },
    gauge: (instrument, read) => {
      meter.createObservableGauge(instrument.name, described(instrument)).addCallback(async (result) => {
        const value = await Promise.resolve(read()).catch(() => null);
        if (value !== null) result.observe(value);
      });
    },
    total: (instrument, read) => {
      meter
        .createObservableCounter(instrument.name, described(instrument))
        .addCallback((result) => result.observe(read()));
    },
  };
}

function described({ help }: Instrument) {
  return { description: help, valueType: ValueType.DOUBLE };
}
