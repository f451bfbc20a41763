// @ts-check
import path from "node:path";
import ts from "typescript";

/*
 * What the TypeScript sources say of classes, arguments and functions: their types, and the comments that editors show.
 */

/** @typedef {{ name: string, file: string, text: string, capabilities: readonly string[], args: ts.Type | undefined, result: ts.Type }} LookupSource */

export class Sources {
  /** @param {string} root the folder of the repository. */
  constructor(root) {
    const entry = path.join(root, "provider/index.ts");
    const { config } = ts.readConfigFile(path.join(root, "tsconfig.json"), ts.sys.readFile);
    const { options } = ts.parseJsonConfigFileContent(
      { ...config, include: [], files: [entry] },
      ts.sys,
      root,
    );
    const program = ts.createProgram([entry], { ...options, noEmit: true });
    this.checker = program.getTypeChecker();
    const module = this.checker.getSymbolAtLocation(/** @type {ts.Node} */ (program.getSourceFile(entry)));
    if (!module) throw new Error(`${entry} exports nothing`);
    const resolve = (/** @type {ts.Symbol} */ symbol) =>
      symbol.flags & ts.SymbolFlags.Alias ? this.checker.getAliasedSymbol(symbol) : symbol;
    this.exports = new Map(
      this.checker.getExportsOfModule(module).map((symbol) => [symbol.name, resolve(symbol)]),
    );
  }

  /** The comment of a declaration on lines of its own, without its tags. @param {ts.Symbol} symbol */
  describe(symbol) {
    return ts.displayPartsToString(symbol.getDocumentationComment(this.checker)).trim();
  }

  /** The capabilities that a comment names by `@capability`. @param {ts.Symbol} symbol */
  capabilitiesOf(symbol) {
    const tags = symbol.getJsDocTags(this.checker).filter(({ name }) => name === "capability");
    return tags.map(({ text }) => ts.displayPartsToString(text).trim());
  }

  /** What the package exports by this name. @param {string} name */
  symbolOf(name) {
    const symbol = this.exports.get(name);
    if (!symbol) throw new Error(`the package exports no ${name}`);
    return symbol;
  }

  /** The type of an exported interface, or of what `new` returns. @param {string} name */
  typeOf(name) {
    return this.checker.getDeclaredTypeOfSymbol(this.symbolOf(name));
  }

  /** @param {ts.Type} type @param {string} name */
  memberOf(type, name) {
    const member = this.checker.getPropertyOfType(type, name);
    if (!member) throw new Error(`${this.checker.typeToString(type)} has no ${name}`);
    return member;
  }

  /**
   * The first object in a type that has all of these members: below inputs, lists and maps.
   * @param {ts.Type} type
   * @param {readonly string[]} names
   * @returns {ts.Type | undefined}
   */
  findShape(type, names, depth = 0) {
    if (depth > 6) return undefined;
    if (type.isUnion()) return this.firstShape(type.types, names, depth);
    if (this.checker.isArrayType(type)) return this.firstShape(this.typeArguments(type), names, depth);
    const index = this.checker.getIndexTypeOfType(type, ts.IndexKind.String);
    if (index) return this.findShape(index, names, depth + 1);
    return names.every((name) => this.checker.getPropertyOfType(type, name)) ? type : undefined;
  }

  /** @param {readonly ts.Type[]} types @param {readonly string[]} names @param {number} depth */
  firstShape(types, names, depth) {
    for (const type of types) {
      const found = this.findShape(type, names, depth + 1);
      if (found) return found;
    }
    return undefined;
  }

  /** @param {ts.Type} type */
  typeArguments(type) {
    return this.checker.getTypeArguments(/** @type {ts.TypeReference} */ (type));
  }

  /** The functions that ask the API, without those that take inputs. @returns {LookupSource[]} */
  lookups() {
    return [...this.exports].flatMap(([name, symbol]) => {
      const declaration = symbol.valueDeclaration;
      if (!declaration || !ts.isVariableDeclaration(declaration) || name.endsWith("Output")) return [];
      const [signature] = this.checker.getTypeOfSymbol(symbol).getCallSignatures();
      if (!signature) return [];
      const [parameter] = signature.parameters;
      const args = parameter && this.checker.getNonNullableType(this.checker.getTypeOfSymbol(parameter));
      const [result] = this.typeArguments(signature.getReturnType());
      if (!result) throw new Error(`${name} returns no promise`);
      const file = path.basename(declaration.getSourceFile().fileName, ".ts");
      const isOptions = args && this.checker.typeToString(args).includes("InvokeOptions");
      return [
        {
          name,
          file,
          text: this.describe(symbol),
          capabilities: this.capabilitiesOf(symbol),
          args: isOptions ? undefined : args,
          result,
        },
      ];
    });
  }

  /** @param {ts.Type} type */
  textOf(type) {
    const plain = this.checker.getNonNullableType(type);
    return this.checker.typeToString(plain, undefined, ts.TypeFormatFlags.NoTruncation);
  }
}
