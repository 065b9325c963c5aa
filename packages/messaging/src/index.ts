export {
  ack,
  reject,
  retry,
  type BusStatus,
  type Consumer,
  type Delivery,
  type Message,
  type MessageBus,
  type Outcome,
  type Report,
  type Subscription,
} from './message-bus.ts';
export { eventFactory, type EventAttributes, type NewEvent, type OutgoingEvent } from './new-event.ts';
export { insertEvents, recordEvents } from './outbox.ts';
export { OutboxRelay, type OutboxRelayOptions, type RelayStatus } from './outbox-relay.ts';
export { createInProcessBus, type InProcessBus, type InProcessBusOptions } from './in-process-bus.ts';
export { createRabbitBus, type RabbitBusOptions } from './rabbit-bus.ts';
export type { Queryable, Transaction } from './queryable.ts';
export { messagingTablesSql } from './tables.ts';
export { redriveDeadLetters } from './local-deliveries.ts';
export { systemClock, type Clock } from './clock.ts';
export type { Backoff } from './backoff.ts';
