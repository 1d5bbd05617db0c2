"""Everything that h5py sees of an HDF5 file, as plain values that can be compared.

Places in the file are left out; objects go by the first path by which they are met. So two
snapshots are equal when the files hold the same, wherever it lies.
"""

import h5py
import numpy as np


class Snapshot:
    """`what` maps (path, aspect) to a value."""

    def __init__(self, path):
        self.what = {}
        self._first_path = {}
        with h5py.File(path, "r", userblock_size=None) as file:
            self._file = file
            create = file.id.get_create_plist()
            with open(path, "rb") as raw:
                self.what["", "user block"] = raw.read(create.get_userblock())
            self._walk_links(file["/"], "")
            for name, item in list(self._first_path.values()):
                self._look_at(name, item)
            del self._file

    def _note(self, path, aspect, value):
        self.what[path, aspect] = value

    @staticmethod
    def _identity(item):
        info = h5py.h5o.get_info(item.id)
        return info.fileno, info.addr

    def _path_of(self, item):
        return self._first_path.get(self._identity(item), ("?", None))[0]

    def _walk_links(self, group, path):
        self._first_path[self._identity(group)] = (path or "/", group)
        waiting = [(path, group)]
        while waiting:
            path, group = waiting.pop(0)
            self._note(path or "/", "names", list(group))
            for name in group:
                where = f"{path}/{name}"
                link = group.get(name, getlink=True)
                self._note(where, "link", (type(link).__name__, getattr(link, "path", None), getattr(link, "filename", None)))
                if not isinstance(link, h5py.HardLink):
                    continue
                item = group[name]
                identity = self._identity(item)
                known = identity in self._first_path
                self._first_path.setdefault(identity, (where, item))
                self._note(where, "object", self._first_path[identity][0])
                if isinstance(item, h5py.Group) and not known:
                    waiting.append((where, item))

    def _look_at(self, path, item):
        info = h5py.h5o.get_info(item.id)
        self._note(path, "kind", (type(item).__name__, info.rc))
        self._note(path, "changed", info.mtime)
        names = list(item.attrs)
        self._note(path, "attributes", names)
        for name in names:
            self._look_at_attribute(path, name, item.attrs.get_id(name))
        if isinstance(item, h5py.Group):
            create = item.id.get_create_plist()
            order = (create.get_link_creation_order(), create.get_attr_creation_order())
            self._note(path, "creation", order)
        elif isinstance(item, h5py.Datatype):
            self._note(path, "type", self._type(item.id))
        else:
            self._look_at_dataset(path, item)

    def _type(self, type_id):
        """Returns a type, with the path of the named type that it is."""
        of = None
        if type_id.committed():
            of = self._path_of(h5py.Datatype(type_id))
        return (of, *self._shape_of_type(type_id))

    def _shape_of_type(self, tid):
        kind = tid.get_class()
        shape = [kind, tid.get_size()]
        if kind == h5py.h5t.COMPOUND:
            for i in range(tid.get_nmembers()):
                shape.append((tid.get_member_name(i), tid.get_member_offset(i), self._shape_of_type(tid.get_member_type(i))))
        elif kind == h5py.h5t.ENUM:
            shape.append(self._shape_of_type(tid.get_super()))
            shape += [(tid.get_member_name(i), tid.get_member_value(i)) for i in range(tid.get_nmembers())]
        elif kind == h5py.h5t.ARRAY:
            shape += [tid.get_array_dims(), self._shape_of_type(tid.get_super())]
        elif kind == h5py.h5t.VLEN:
            shape.append(self._shape_of_type(tid.get_super()))
        elif kind == h5py.h5t.STRING:
            shape += [tid.is_variable_str(), tid.get_cset(), tid.get_strpad()]
        elif kind == h5py.h5t.OPAQUE:
            shape.append(tid.get_tag())
        elif kind == h5py.h5t.REFERENCE:
            shape.append(tid.equal(h5py.h5t.STD_REF_OBJ))
        else:
            shape.append(tid.encode())
        return tuple(shape)

    def _value(self, value):
        """Something that compares by ==, whatever h5py gives."""
        if isinstance(value, h5py.RegionReference):
            if not value:
                return "null region"
            item = self._file[value]
            sid = h5py.h5r.get_region(value, self._file.id)
            return "region", self._path_of(item), sid.get_select_bounds(), sid.get_select_npoints()
        if isinstance(value, h5py.Reference):
            return ("to", self._path_of(self._file[value])) if value else "null reference"
        if isinstance(value, h5py.Empty):
            return "empty", str(value.dtype)
        if isinstance(value, np.ndarray) and (value.dtype.hasobject or value.dtype.names):
            return value.shape, tuple(self._value(one) for one in value.ravel())
        if isinstance(value, np.void) and value.dtype.names:
            return tuple(self._value(value[name]) for name in value.dtype.names)
        if isinstance(value, np.ndarray):
            return value.shape, value.tobytes()
        return value.tobytes() if isinstance(value, np.generic) else value

    def _look_at_attribute(self, path, name, aid):
        self._note(path, ("attribute type", name), self._type(aid.get_type()))
        space = aid.get_space()
        self._note(path, ("attribute space", name), (space.get_simple_extent_type(), space.shape))
        item = self._first_path_item(path)
        self._note(path, ("attribute", name), self._try(lambda: self._value(item.attrs[name])))

    def _first_path_item(self, path):
        return self._file[path]

    @staticmethod
    def _try(read):
        try:
            return read()
        except (OSError, TypeError, RuntimeError, ValueError) as error:
            return "error", type(error).__name__

    def _look_at_dataset(self, path, item):
        create = item.id.get_create_plist()
        space = item.id.get_space()
        layout = create.get_layout()
        self._note(path, "type", self._type(item.id.get_type()))
        self._note(path, "shape", (space.get_simple_extent_type(), item.shape, item.maxshape))
        self._note(path, "layout", (layout, item.chunks if layout == h5py.h5d.CHUNKED else None))
        self._note(path, "filters", [create.get_filter(i) for i in range(create.get_nfilters())])
        self._note(path, "times", (create.get_alloc_time(), create.get_fill_time(), create.get_obj_track_times()))
        self._note(path, "order", create.get_attr_creation_order())
        self._note(path, "fill", (create.fill_value_defined(), self._try(lambda: self._value(np.asarray(item.fillvalue)))))
        self._note(path, "allocated", item.id.get_space_status())
        self._note(path, "external", [create.get_external(i) for i in range(create.get_external_count())])
        if layout == h5py.h5d.VIRTUAL:
            sources = [
                (s.file_name, s.dset_name, s.vspace.get_select_bounds(), s.src_space.shape) for s in item.virtual_sources()
            ]
            self._note(path, "sources", sources)
        elif layout == h5py.h5d.CHUNKED and item.size:
            count = item.id.get_num_chunks()
            chunks = sorted((c.chunk_offset, c.filter_mask) for c in map(item.id.get_chunk_info, range(count)))
            self._note(path, "chunks", chunks)
        self._note(path, "elements", self._try(lambda: self._value(item[()])))


def differences(before, after):
    """Returns what two snapshots don't have in common, as text."""
    found = []
    for key in before.what.keys() | after.what.keys():
        old, new = before.what.get(key, "nothing"), after.what.get(key, "nothing")
        if old != new:
            found.append(f"{key}: {str(old)[:300]} -> {str(new)[:300]}")
    return sorted(found)
