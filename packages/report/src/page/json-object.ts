/** An object of unknown structure. Absent members and members of another type are read as empty. */
export class JsonObject {
  readonly #members: Readonly<Record<string, unknown>>;

  constructor(value: unknown) {
    this.#members = isRecord(value) ? value : {};
  }

  /** Returns an empty object for a text that is not a JSON object. */
  static parse(text: string): JsonObject {
    try {
      return new JsonObject(JSON.parse(text));
    } catch {
      return new JsonObject(null);
    }
  }

  has(name: string): boolean {
    return Object.hasOwn(this.#members, name);
  }

  value(name: string): unknown {
    return this.#members[name];
  }

  object(name: string): JsonObject {
    return new JsonObject(this.#members[name]);
  }

  /** A string, number or boolean as text. */
  text(name: string): string {
    const value = this.#members[name];
    return ['string', 'number', 'boolean'].includes(typeof value) ? String(value) : '';
  }

  list(name: string): unknown[] {
    const value = this.#members[name];
    return Array.isArray(value) ? value : [];
  }
}

function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
