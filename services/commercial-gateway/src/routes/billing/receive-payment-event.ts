import { AppError } from '@countersign/contracts';
import { PaymentProviderName, receivePaymentEvent } from '@countersign/contracts/commercial-gateway';
import { handlePublic } from '@countersign/service-kit';
import type { Context } from '../../context.ts';
import { receiveEvent } from '../../payments/receive-event.ts';

export const receivePaymentEventRoute = (context: Context) =>
  handlePublic(receivePaymentEvent, { rateLimit: 'webhook' })(async ({ params, rawBody, req, log }) => {
    const name = PaymentProviderName.safeParse(params.provider);
    const provider = name.success ? context.payments.byName[name.data] : undefined;
    if (provider === undefined)
      throw new AppError(
        'NOT_FOUND',
        'This object does not exist, or you have no access to it. Check its ID and the workspace',
      );
    const received = { body: rawBody ?? Buffer.alloc(0), headers: req.headers, now: context.now() };
    const event = provider.parseEvent(received);
    const applied = await receiveEvent(context, provider, event);
    log.info('payment_event.received', { provider: provider.name, event_id: event.id, type: event.type, applied });
    return { applied };
  });
