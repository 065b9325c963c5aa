import { randomBytes } from 'node:crypto';
import { encodeBase64Url } from '@countersign/crypto';
import { generateSigningKey } from '@countersign/crypto/signing';
import type { Bench } from './bench.ts';
import { newBotToken } from './messenger.ts';

export type GatewaySettings = {
  botToken: string;
  /** The settings of the kernel behind these gateways. */
  kernelEnvironment: Record<string, string>;
  environmentFor(places: { databaseUrl: string; kernelUrl: string }): Record<string, string>;
};

/** No client of the bench reaches this limit. The counting is measured, and no request is refused. */
const requestsPerMinute = '1000000';

/**
 * The settings of all gateways of one installation, with a broker, a mandatory kernel and its pinned key as in
 * production.
 */
export function gatewaySettings({ amqpUrl, settings }: Bench, exchange: string): GatewaySettings {
  const assertionKey = generateSigningKey();
  const botToken = newBotToken();
  const bus = { AMQP_URL: amqpUrl, GOV_AMQP_EXCHANGE: exchange };
  const environment = {
    ...bus,
    NODE_ENV: 'production',
    GOV_CURRENCY: 'EUR',
    GOV_SESSION_SECRET: randomBytes(32).toString('hex'),
    GOV_MESSENGER_BOT_TOKEN: botToken,
    GOV_SIGN_UP: '*',
    // Production requires a mail server. No mail is sent here.
    GOV_SMTP_URL: 'smtp://127.0.0.1:9',
    GOV_FAIL_CLOSED: '1',
    GOV_ASSERTION_KEY: assertionKey.privateKeyPem,
    GOV_SERVICE_API_KEY: settings.serviceApiKey,
    GOV_TRUSTED_PUBLIC_KEYS: encodeBase64Url(settings.signingKey.public_key),
    GOV_RATE_LIMIT_STANDARD: requestsPerMinute,
    GOV_LOG_LEVEL: 'warn',
    GOV_STOP_NOTICE: '0ms',
  };
  return {
    botToken,
    kernelEnvironment: { ...bus, GOV_ASSERTION_KEYS: encodeBase64Url(assertionKey.publicKey) },
    environmentFor: ({ databaseUrl, kernelUrl }) => ({
      ...environment,
      DATABASE_URL: databaseUrl,
      GOV_GOVERNANCE_URL: kernelUrl,
    }),
  };
}
