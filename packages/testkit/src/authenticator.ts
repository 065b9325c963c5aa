import { createHash, createPrivateKey, generateKeyPairSync, randomBytes, sign, type KeyObject } from 'node:crypto';

const base64Url = (bytes: Uint8Array | string) => Buffer.from(bytes).toString('base64url');
const sha256 = (data: Uint8Array | string) => createHash('sha256').update(data).digest();

/** A fault that the authenticator, or the browser around it, produces for a test. */
export type Forgery = {
  type?: string;
  challenge?: string;
  origin?: string;
  rpId?: string;
  /** Bits: 1 user present, 4 user verified, 64 attested data. */
  flags?: number;
  counter?: number;
  crossOrigin?: boolean | null;
  /** The COSE algorithm that the key states, from -24 to -1. */
  algorithm?: number;
};

/** An authenticator in software (Web Authentication §6), with the browser that forwards its responses. */
export class Authenticator {
  readonly id: string;
  counter: number;
  readonly #key: KeyObject;
  readonly #origin: string;

  constructor(origin: string, taken?: { id: string; privateKey: string; counter: number }) {
    this.#origin = origin;
    this.id = taken?.id ?? base64Url(randomBytes(32));
    this.counter = taken?.counter ?? 0;
    this.#key =
      taken === undefined
        ? generateKeyPairSync('ec', { namedCurve: 'P-256' }).privateKey
        : createPrivateKey({ key: Buffer.from(taken.privateKey, 'base64'), format: 'der', type: 'pkcs8' });
  }

  create(challenge: string, forged: Forgery = {}) {
    const { clientDataJSON } = this.#clientData({ type: 'webauthn.create', challenge, ...forged });
    const id = Buffer.from(this.id, 'base64url');
    const attested = Buffer.concat([Buffer.alloc(16), uint16(id.length), id, this.#coseKey(forged)]);
    const data = Buffer.concat([this.#authenticatorData({ flags: 0x45, ...forged }), attested]);
    const attestationObject = Buffer.concat([
      Buffer.from([0xa3]),
      ...[text('fmt'), text('none'), text('attStmt'), Buffer.from([0xa0]), text('authData'), bytes(data)],
    ]);
    const response = { clientDataJSON, attestationObject: base64Url(attestationObject), transports: ['internal'] };
    return this.#answer(response);
  }

  get(challenge: string, forged: Forgery = {}) {
    this.counter += 1;
    const { clientDataJSON, hash } = this.#clientData({ type: 'webauthn.get', challenge, ...forged });
    const data = this.#authenticatorData({ flags: 0x05, ...forged });
    const signature = sign('sha256', Buffer.concat([data, hash]), this.#key);
    const response = { clientDataJSON, authenticatorData: base64Url(data), signature: base64Url(signature) };
    return this.#answer(response);
  }

  #answer<Response extends object>(response: Response) {
    return { id: this.id, rawId: this.id, type: 'public-key' as const, response, clientExtensionResults: {} };
  }

  #clientData({ type = '', challenge = '', origin = this.#origin, crossOrigin = false }: Forgery) {
    const json = JSON.stringify({ type, challenge, origin, crossOrigin });
    return { clientDataJSON: base64Url(json), hash: sha256(json) };
  }

  #authenticatorData({ rpId = new URL(this.#origin).hostname, flags = 0, counter = this.counter }: Forgery): Buffer {
    const count = Buffer.alloc(4);
    count.writeUInt32BE(counter);
    return Buffer.concat([sha256(rpId), Buffer.from([flags]), count]);
  }

  /** {1: 2, 3: -7, -1: 1, -2: x, -3: y} (RFC 9053 §7.1.1). */
  #coseKey({ algorithm = -7 }: Forgery): Buffer {
    const { x = '', y = '' } = this.#key.export({ format: 'jwk' });
    const head = Buffer.from([0xa5, 0x01, 0x02, 0x03, 0x1f - algorithm, 0x20, 0x01, 0x21]);
    return Buffer.concat([
      head,
      bytes(Buffer.from(x, 'base64url')),
      Buffer.from([0x22]),
      bytes(Buffer.from(y, 'base64url')),
    ]);
  }
}

const uint16 = (value: number) => Buffer.from([value >> 8, value & 0xff]);
const text = (value: string) => Buffer.concat([Buffer.from([0x60 + value.length]), Buffer.from(value)]);
const bytes = (value: Buffer) =>
  Buffer.concat([
    value.length < 256 ? Buffer.from([0x58, value.length]) : Buffer.from([0x59, ...uint16(value.length)]),
    value,
  ]);
