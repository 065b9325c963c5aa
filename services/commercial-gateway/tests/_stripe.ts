import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { createHmac } from 'node:crypto';

/** How the next matching request fails. The `after` variants fail after the effect. */
export type Fault = 'rate_limit' | 'error' | 'error_after' | 'drop' | 'drop_after';

type Fields = { [name: string]: string | Fields };
type Stored = { status: number; body: unknown; fields: string };
export type Intent = {
  id: string;
  amount: number;
  amount_received: number;
  currency: string;
  customer: string;
  status: string;
  payment_method: string | null;
  metadata: Fields;
  last_payment_error: { code: string; decline_code?: string } | null;
};
type Session = {
  id: string;
  mode: string;
  url: string;
  status: string;
  customer: string;
  client_reference_id: string;
  setup_intent: unknown;
  payment_intent: unknown;
  fields: Fields;
};
type Refund = {
  id: string;
  amount: number;
  currency: string;
  status: string;
  payment_intent: string;
  metadata: Fields;
};

class Refused extends Error {
  readonly status: number;
  readonly error: object;
  constructor(status: number, error: object) {
    super(JSON.stringify(error));
    this.status = status;
    this.error = error;
  }
}

export const stripeKeys = { secretKey: 'sk_test_of_a_fake_stripe', webhookSecret: 'whsec_of_a_fake_stripe' };

/**
 * Stateful fake of the Stripe routes that this service uses. It has idempotency keys that also replay errors, card
 * errors, and faults before and after an effect. The payment method selects the result: `pm_ok`, `pm_declined`,
 * `pm_authentication`, `pm_slow`.
 */
export class FakeStripe {
  readonly intents = new Map<string, Intent>();
  readonly sessions = new Map<string, Session>();
  readonly refunds = new Map<string, Refund>();
  readonly disputes = new Map<string, Refund>();
  readonly customers = new Map<string, { id: string; metadata: Fields }>();
  readonly requests: string[] = [];
  /** Successful charges. */
  readonly charged: { intent: string; amount: number }[] = [];
  readonly #answers = new Map<string, Stored>();
  readonly #faults: { path: RegExp; fault: Fault; orgId: string }[] = [];
  /** Whether refunds stay pending, as at banks that take days. */
  slowRefunds = false;
  #serial = 0;
  readonly #server = createServer((req, res) => void this.#answer(req, res));

  async listen(): Promise<string> {
    await new Promise<void>((resolve) => this.#server.listen(0, '127.0.0.1', resolve));
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`; // it listens on TCP
  }

  async close(): Promise<void> {
    this.#server.closeAllConnections();
    await new Promise<void>((resolve) => this.#server.close(() => resolve()));
  }

  /** Fails the next request of an organisation with this method and path. */
  failNext(path: RegExp, fault: Fault, orgId: string): void {
    this.#faults.push({ path, fault, orgId });
  }

  /** Forgets the idempotency keys, as Stripe does after a day. */
  forgetIdempotencyKeys(): void {
    this.#answers.clear();
  }

  /** Completes the page as the payer. */
  finishCheckout(sessionId: string, payment_method: string): Session {
    const session = required(this.sessions.get(sessionId), 'session');
    session.status = 'complete';
    if (session.mode === 'setup') session.setup_intent = { id: this.#id('seti'), payment_method };
    else session.payment_intent = this.#payOnPage(session, payment_method);
    return session;
  }

  /** Ends a payment that is still processing. */
  settle(intentId: string, isPaid: boolean): void {
    const intent = required(this.intents.get(intentId), 'payment');
    if (isPaid) this.#succeed(intent);
    else Object.assign(intent, { status: 'requires_payment_method', last_payment_error: { code: 'card_declined' } });
  }

  /** Creates a refund as a person does on the pages of Stripe. */
  refundOnPage(intentId: string, amount: number): Refund {
    return this.#refund({ payment_intent: intentId, amount: String(amount) });
  }

  /** Creates a dispute: the bank of the payer reclaims the money. */
  dispute(intentId: string, amount: number): Refund {
    const { id: payment_intent, currency } = required(this.intents.get(intentId), 'payment');
    return put(this.disputes, {
      ...{ id: this.#id('dp'), amount, currency, status: 'needs_response', payment_intent, metadata: {} },
    });
  }

  /** Returns a signed event of Stripe. `age` is in seconds. */
  event(
    type: string,
    object: object,
    { id = this.#id('evt'), age = 0, now = new Date(), secret = stripeKeys.webhookSecret } = {},
  ) {
    const body = JSON.stringify({ id, object: 'event', type, data: { object } }, null, 2);
    const timestamp = Math.floor(now.getTime() / 1_000) - age;
    const signature = createHmac('sha256', secret).update(`${timestamp}.${body}`).digest('hex');
    return { id, body, header: `t=${timestamp},v1=${signature},v0=${'0'.repeat(64)}` };
  }

  async #answer(req: IncomingMessage, res: ServerResponse): Promise<void> {
    const chunks: Buffer[] = [];
    for await (const chunk of req) chunks.push(chunk as Buffer); // a request yields buffers
    const { pathname, search } = new URL(req.url ?? '/', 'http://stripe');
    const text = Buffer.concat(chunks).toString('utf8') + search.slice(1);
    const place = `${req.method} ${pathname}`;
    this.requests.push(place);
    if (req.headers.authorization !== `Bearer ${stripeKeys.secretKey}`)
      return send(res, 401, { error: { type: 'invalid_request_error', message: 'Invalid API Key provided' } });
    const fault = this.#takeFault(place, text);
    if (fault === 'drop') return void req.socket.destroy();
    if (fault === 'rate_limit') return send(res, 429, { error: { type: 'rate_limit_error', code: 'rate_limit' } });
    const { status, body } = this.#once(req, { place, text, isBroken: fault === 'error' });
    if (fault === 'drop_after') return void req.socket.destroy();
    if (fault === 'error_after') return send(res, 500, { error: { type: 'api_error', message: 'An error occurred' } });
    send(res, status, body);
  }

  #takeFault(place: string, text: string): Fault | null {
    const named = [...this.intents.values()].find(({ id }) => place.split('/').includes(id))?.metadata['org_id'];
    const isAbout = (orgId: string) => named === orgId || text.includes(orgId);
    const index = this.#faults.findIndex(({ path, orgId }) => path.test(place) && isAbout(orgId));
    return index === -1 ? null : (this.#faults.splice(index, 1)[0]?.fault ?? null);
  }

  /** Replays the first answer of an idempotency key, including errors. Refuses the key with other parameters. */
  #once(req: IncomingMessage, { place, text, isBroken }: { place: string; text: string; isBroken: boolean }): Stored {
    const key = req.method === 'POST' ? req.headers['idempotency-key'] : undefined;
    const stored = key === undefined ? undefined : this.#answers.get(String(key));
    if (stored !== undefined && stored.fields !== text)
      return {
        status: 400,
        body: { error: { type: 'idempotency_error', message: 'Keys are for one request' } },
        fields: text,
      };
    if (stored !== undefined) return stored;
    const answer = isBroken ? brokenAnswer(text) : this.#run(place, text);
    if (key !== undefined) this.#answers.set(String(key), answer);
    return answer;
  }

  #run(place: string, text: string): Stored {
    try {
      return { status: 200, body: this.#route(place, fieldsOf(text)), fields: text };
    } catch (error) {
      if (!(error instanceof Refused)) throw error;
      return { status: error.status, body: { error: error.error }, fields: text };
    }
  }

  #route(place: string, fields: Fields): object {
    const [method = '', path = ''] = place.split(' ');
    const [, , ...segments] = path.split('/');
    const name = `${method} ${segments.filter((chunk) => !chunk.includes('_') || chunk === 'payment_intents').join('/')}`;
    const id = segments.find((chunk) => chunk.includes('_') && chunk !== 'payment_intents') ?? '';
    switch (name) {
      case 'POST customers':
        return put(this.customers, { id: this.#id('cus'), metadata: metadataOf(fields) });
      case 'POST checkout/sessions':
        return this.#createSession(fields);
      case 'GET checkout/sessions':
        return required(this.sessions.get(id), 'session');
      case 'POST payment_intents':
        return id === '' ? this.#createIntent(fields) : this.#update(id, fields);
      case 'GET payment_intents':
        return required(this.intents.get(id), 'payment_intent');
      case 'POST payment_intents/confirm':
        return this.#confirm(required(this.intents.get(id), 'payment_intent'), textOf(fields, 'payment_method'));
      case 'POST refunds':
        return this.#refund(fields);
      case 'GET disputes': {
        const dispute = required(this.disputes.get(id), 'dispute');
        return { ...dispute, payment_intent: this.intents.get(dispute.payment_intent) };
      }
      case 'GET refunds': {
        if (id === '') return this.#listRefunds(textOf(fields, 'payment_intent'));
        const refund = required(this.refunds.get(id), 'refund');
        return { ...refund, payment_intent: this.intents.get(refund.payment_intent) };
      }
      default:
        throw new Refused(404, { type: 'invalid_request_error', message: `Unrecognized request URL (${name})` });
    }
  }

  #listRefunds(intentId: string): object {
    const data = [...this.refunds.values()].filter(({ payment_intent }) => payment_intent === intentId);
    return { object: 'list', url: '/v1/refunds', has_more: false, data };
  }

  #createSession(fields: Fields): Session {
    const id = this.#id('cs');
    const [mode, customer, client_reference_id] = ['mode', 'customer', 'client_reference_id'].map((name) =>
      textOf(fields, name),
    );
    const intents = { setup_intent: null, payment_intent: null };
    const named = { mode: mode ?? '', customer: customer ?? '', client_reference_id: client_reference_id ?? '' };
    return put(this.sessions, {
      id,
      ...named,
      ...intents,
      url: `https://checkout.stripe.test/${id}`,
      status: 'open',
      fields,
    });
  }

  #createIntent(fields: Fields): Intent {
    const [amount, currency, customer] = ['amount', 'currency', 'customer'].map((name) => textOf(fields, name));
    return put(this.intents, {
      ...{
        id: this.#id('pi'),
        amount: Number(amount),
        amount_received: 0,
        currency: currency ?? '',
        customer: customer ?? '',
      },
      ...{ status: 'requires_payment_method', payment_method: null, last_payment_error: null },
      metadata: metadataOf(fields),
    });
  }

  #update(id: string, fields: Fields): Intent {
    return Object.assign(required(this.intents.get(id), 'payment_intent'), {
      amount: Number(textOf(fields, 'amount')),
    });
  }

  #confirm(intent: Intent, method: string): Intent {
    if (intent.status === 'succeeded' || intent.status === 'processing')
      throw new Refused(400, { type: 'invalid_request_error', code: 'payment_intent_unexpected_state', message: 'No' });
    if (method === 'pm_ok') return this.#succeed(Object.assign(intent, { payment_method: method }));
    if (method === 'pm_slow') return Object.assign(intent, { status: 'processing', payment_method: method });
    const failure =
      method === 'pm_authentication'
        ? { code: 'authentication_required' }
        : { code: 'card_declined', decline_code: 'insufficient_funds' };
    Object.assign(intent, { status: 'requires_payment_method', last_payment_error: failure });
    throw new Refused(402, { type: 'card_error', message: 'Your card was declined.', ...failure });
  }

  #payOnPage({ fields, customer }: Session, payment_method: string): Intent {
    const data = fields['payment_intent_data'] as Fields; // sessions in this mode have it
    const line = ((fields['line_items'] as Fields)['0'] as Fields)['price_data'] as Fields; // there is only one line
    const shared = { amount: textOf(line, 'unit_amount'), currency: textOf(line, 'currency'), customer };
    const intent = this.#createIntent({ ...shared, metadata: metadataOf(data) });
    if (payment_method === 'pm_slow') return Object.assign(intent, { status: 'processing', payment_method });
    return this.#succeed(Object.assign(intent, { payment_method }));
  }

  #succeed(intent: Intent): Intent {
    this.charged.push({ intent: intent.id, amount: intent.amount });
    return Object.assign(intent, { status: 'succeeded', amount_received: intent.amount, last_payment_error: null });
  }

  #refund(fields: Fields): Refund {
    const intent = required(this.intents.get(textOf(fields, 'payment_intent')), 'payment_intent');
    const amount = Number(textOf(fields, 'amount'));
    const refunded = [...this.refunds.values()].filter(({ payment_intent }) => payment_intent === intent.id);
    if (refunded.reduce((sum, refund) => sum + refund.amount, amount) > intent.amount_received)
      throw new Refused(400, { type: 'invalid_request_error', code: 'charge_already_refunded', message: 'No' });
    const { id: payment_intent, currency } = intent;
    const status = this.slowRefunds ? 'pending' : 'succeeded';
    return put(this.refunds, {
      id: this.#id('re'),
      amount,
      currency,
      status,
      payment_intent,
      metadata: metadataOf(fields),
    });
  }

  #id(prefix: string): string {
    this.#serial += 1;
    return `${prefix}_${this.#serial}`;
  }
}

function put<Row extends { id: string }>(rows: Map<string, Row>, row: Row): Row {
  rows.set(row.id, row);
  return row;
}

function required<Row>(row: Row | undefined, what: string): Row {
  if (row !== undefined) return row;
  throw new Refused(404, { type: 'invalid_request_error', code: 'resource_missing', message: `No such ${what}` });
}

function brokenAnswer(fields: string): Stored {
  return { status: 500, body: { error: { type: 'api_error', message: 'An error occurred' } }, fields };
}

function send(res: ServerResponse, status: number, body: unknown): void {
  res.writeHead(status, { 'content-type': 'application/json', 'request-id': 'req_fake' });
  res.end(JSON.stringify(body));
}

/** Parses the fields of a form with names such as `a[b][c]`. */
function fieldsOf(text: string): Fields {
  const root: Fields = {};
  for (const [name, value] of new URLSearchParams(text)) {
    const path = name.replaceAll(']', '').split('[');
    const last = path.pop() ?? '';
    let fields = root;
    for (const chunk of path) fields = (fields[chunk] ??= {}) as Fields; // a name has a value or members
    fields[last] = value;
  }
  return root;
}

function textOf(fields: Fields, name: string): string {
  const value = fields[name];
  return typeof value === 'string' ? value : '';
}

function metadataOf(fields: Fields): Fields {
  return (fields['metadata'] ?? {}) as Fields; // metadata has members
}
