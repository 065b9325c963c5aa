import { expect, it } from '@jest/globals';
import * as commercialGateway from '@countersign/contracts/commercial-gateway';
import * as controlPlane from '@countersign/contracts/control-plane';
import * as gateway from '@countersign/contracts/gateway';
import * as kernel from '@countersign/contracts/governance-kernel';
import type { EventDefinition } from '@countersign/contracts';
import { listFiles, readText } from '../architecture/repository.ts';

const events = [commercialGateway, controlPlane, gateway, kernel].flatMap((contract) =>
  Object.entries<unknown>(contract).filter((entry): entry is [string, EventDefinition] => isEvent(entry[1])),
);

function isEvent(value: unknown): value is EventDefinition {
  return typeof value === 'object' && value !== null && 'needsConsumer' in value && 'type' in value;
}

/** Sources of services, without the files that publish events. */
const consumers = listFiles('services', '.ts')
  .filter((path) => path.includes('/src/') && !path.endsWith('/src/events.ts'))
  .map(readText);

it.each(events)('%s has a consumer among the services, or states its outside consumer', (name, { forOthers }) => {
  const isConsumed = consumers.some((text) => new RegExp(`\\b${name}\\b`).test(text));
  expect({ isConsumed, forOthers }).toEqual(
    isConsumed ? { isConsumed, forOthers: null } : { isConsumed, forOthers: expect.any(String) },
  );
});

it('there are events to check', () => {
  expect(events.length).toBeGreaterThan(15);
});
