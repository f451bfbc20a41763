// A dynamic provider as they are commonly written: a class in the program, one object of it for each
// resource, axios called directly, the whole answer in the outputs.
const pulumi = require("@pulumi/pulumi");
const axios = require("axios").default;
const { baseUrl, parentUid, bindings } = require("./bench.json");

class RoleBindingProvider {
  headers() {
    return { Authorization: `Bearer ${process.env.PLATFORM_TOKEN}`, "Content-Type": "application/json" };
  }

  async check(olds, news) {
    const failures = [];
    for (const property of ["parentUid", "identityUid", "roleUid"]) {
      if (!news[property]) failures.push({ property, reason: `${property} is required` });
    }
    return { inputs: news, failures };
  }

  async diff(id, olds, news) {
    const replaces = olds.parentUid !== news.parentUid ? ["parentUid"] : [];
    const changes =
      replaces.length > 0 || olds.identityUid !== news.identityUid || olds.roleUid !== news.roleUid;
    return { changes, replaces, deleteBeforeReplace: true };
  }

  async create(inputs) {
    const { data } = await axios.post(
      `${inputs.baseUrl}/iam/v2/roleBindings/${inputs.parentUid}`,
      { identityUid: inputs.identityUid, roleUid: inputs.roleUid },
      { headers: this.headers() },
    );
    return { id: data.uid, outs: { ...inputs, ...data } };
  }

  async read(id, props) {
    const { data } = await axios.get(`${props.baseUrl}/iam/v2/roleBindings/${id}`, {
      headers: this.headers(),
    });
    return { id, props: { ...props, ...data } };
  }

  async update(id, olds, news) {
    const { data } = await axios.patch(
      `${news.baseUrl}/iam/v2/roleBindings/${id}?updateMask=identityUid,roleUid`,
      { identityUid: news.identityUid, roleUid: news.roleUid },
      { headers: this.headers() },
    );
    return { outs: { ...news, ...data } };
  }

  async delete(id, props) {
    await axios.delete(`${props.baseUrl}/iam/v2/roleBindings/${id}`, { headers: this.headers() });
  }
}

class RoleBinding extends pulumi.dynamic.Resource {
  constructor(name, args, opts) {
    super(
      new RoleBindingProvider(),
      name,
      {
        uid: undefined,
        identity: undefined,
        role: undefined,
        group: undefined,
        createTime: undefined,
        ...args,
      },
      opts,
    );
  }
}

bindings.forEach((binding, index) => {
  new RoleBinding(`binding-${index}`, { baseUrl, parentUid, ...binding });
});
