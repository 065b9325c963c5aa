// Relays and consumes until it is killed. Prints one line per handled message.
import { ack, OutboxRelay } from '@countersign/messaging';
import { inTransaction } from '@countersign/database';
import { createBus, type BusSettings } from './drivers.ts';
import { noteSubscription, openSchema, writeEffect } from './note.ts';

type Settings = BusSettings & { databaseUrl: string; schema: string; queue: string };
const settings = JSON.parse(process.argv[2] ?? '') as Settings; // the test that starts this process writes it

const database = openSchema(settings.databaseUrl, settings.schema);
const bus = createBus(settings);
const { subscribed } = bus.consume(
  noteSubscription(database, settings.queue, {
    handler: async (event, tx) => {
      await writeEffect(tx, event.data.value);
      process.stdout.write('handled\n');
      return ack;
    },
  }),
);
await subscribed;
new OutboxRelay({ bus, transaction: (work) => inTransaction(database.pool, work), batchSize: 20 }).start();
