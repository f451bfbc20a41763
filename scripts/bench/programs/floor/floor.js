const { randomBytes } = require("crypto");

const inputsOf = ({ parentUid, identityUid, roleUid }) => ({ parentUid, identityUid, roleUid });

exports.RoleBinding = {
  check: async (olds, news) => ({ inputs: news, failures: [] }),
  diff: async (id, olds, news) => ({
    changes: JSON.stringify(inputsOf(olds)) === JSON.stringify(inputsOf(news)) ? false : undefined,
    replaces: [],
  }),
  create: async (inputs) => ({
    id: `${inputs.parentUid}/${randomBytes(8).toString("hex")}`,
    outs: inputsOf(inputs),
  }),
  read: async (id, olds) => ({ id, props: inputsOf(olds), inputs: inputsOf(olds) }),
  update: async (id, olds, news) => ({ outs: inputsOf(news) }),
  delete: async () => {},
};
