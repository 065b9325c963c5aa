export {
  ack,
  reject,
  later,
  retry,
  type Delivery,
  type Message,
  type MessageBus,
  type Report,
  type Subscription,
} from './message-bus.ts';
export { aroundDeliveries } from './around-deliveries.ts';
export { type DeadLetter, type DeadLetters } from './dead-letters.ts';
export { localDeadLetters } from './local-dead-letters.ts';
export { openRabbitDeadLetters } from './rabbit-dead-letters.ts';
export { eventFactory, type NewEvent, type OutgoingEvent } from './new-event.ts';
export { insertEvents, recordEvents } from './outbox.ts';
export { OutboxRelay, type OutboxRelayOptions } from './outbox-relay.ts';
export { createInProcessBus, type InProcessBus } from './in-process-bus.ts';
export { createRabbitBus } from './rabbit-bus.ts';
export { assertConnected, assertNoDeadLetters, gaugeDeadLetters, openBus, reportTo } from './open-bus.ts';
export { messagingTransaction, recordEventsIn, wakingTransaction } from './prisma-outbox.ts';
export { queryableOf, type Queryable, type Transaction } from './queryable.ts';
export { messagingTablesSql } from './tables.ts';
